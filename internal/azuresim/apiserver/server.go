package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
)

// Server answers requests about the objects of a Store.
type Server struct {
	Store    *Store
	kinds    []Kind
	handlers map[string]Handler
	scheme   *runtime.Scheme
	codecs   serializer.CodecFactory
	decoder  runtime.Decoder
}

// Handler executes a request in place of the store. Without an object the answer is a Status of success.
type Handler func(*Request) (runtime.Object, error)

// New makes a server of an empty store.
func New(identity Identity) *Server {
	s := &Server{
		Store: NewStore(identity), kinds: kinds(), handlers: map[string]Handler{},
		scheme: scheme.Scheme, codecs: scheme.Codecs,
	}
	s.decoder = s.codecs.UniversalDeserializer()
	return s
}

// Handle leads a verb on a resource or subresource, such as "create" on "pods/eviction", to a handler.
func (s *Server) Handle(verb, resource string, handler Handler) {
	s.handlers[verb+" "+resource] = handler
}

// Response is the answer to a request: a body, or the stream of a watch.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	// Stream is for the client to close.
	Stream io.ReadCloser
}

// Execute does what is asked. The stream of a watch ends with ctx.
func (s *Server) Execute(ctx context.Context, asked *Request) Response {
	if asked.wrong != nil {
		return s.Refuse(asked, asked.wrong)
	}
	if asked.kind == nil {
		return s.discover(asked)
	}
	if asked.Verb == "watch" {
		return s.openWatch(ctx, asked)
	}
	object, err := s.execute(asked)
	if err != nil {
		return s.Refuse(asked, err)
	}
	status := http.StatusOK
	if asked.Verb == "create" {
		status = http.StatusCreated
	}
	if object == nil {
		object = &metav1.Status{Status: metav1.StatusSuccess, Code: int32(status)}
	}
	return s.Answer(asked, status, object)
}

func (s *Server) execute(asked *Request) (runtime.Object, error) {
	resource := asked.kind.GroupVersionResource
	if handler, found := s.handlers[asked.Verb+" "+asked.Resource()]; found {
		return handler(asked)
	}
	misplaced := asked.named == slices.Contains([]string{"create", "list", "deletecollection"}, asked.Verb)
	if asked.Subresource != "" || misplaced || !slices.Contains(asked.kind.verbs(), asked.Verb) {
		return nil, apierrors.NewMethodNotSupported(resource.GroupResource(), asked.Verb)
	}
	switch asked.Verb {
	case "get":
		return s.Store.Get(resource, asked.Namespace, asked.Name)
	case "create":
		if err := s.namespaceServes(asked); err != nil {
			return nil, err
		}
		return s.Store.Create(resource, asked.Object, asked.Namespace)
	case "update":
		return s.update(asked)
	case "patch":
		return s.merge(asked)
	case "delete":
		return nil, s.delete(asked)
	}
	wanted, err := newSelection(resource, asked.Namespace, asked.options)
	if err != nil {
		return nil, err
	}
	if asked.Verb == "list" {
		return s.list(asked, wanted)
	}
	for _, object := range s.Store.All(resource, asked.Namespace) {
		if !wanted.has(object) {
			continue
		}
		if err := s.deleteOne(asked, object); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// deleteOne deletes one object of a collection by its own rules.
func (s *Server) deleteOne(asked *Request, object runtime.Object) error {
	head, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	one := *asked
	one.Verb, one.Namespace, one.Name, one.named = "delete", head.GetNamespace(), head.GetName(), true
	_, err = s.execute(&one)
	return err
}

// namespaceServes refuses objects in namespaces that there are not.
func (s *Server) namespaceServes(asked *Request) error {
	if !asked.kind.Namespaced {
		return nil
	}
	_, err := s.Store.Get(corev1.SchemeGroupVersion.WithResource("namespaces"), "", asked.Namespace)
	return err
}

func (s *Server) update(asked *Request) (runtime.Object, error) {
	head, err := meta.Accessor(asked.Object)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if asked.kind.conditional && head.GetResourceVersion() == "" {
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
			Message: fmt.Sprintf(
				"%s %q is invalid: metadata.resourceVersion: must be specified for an update", asked.kind.Resource, asked.Name),
		}}
	}
	return s.Store.Update(asked.kind.GroupVersionResource, asked.Object, asked.Namespace)
}

// delete removes an object at once, and what is in a namespace with it.
func (s *Server) delete(asked *Request) error {
	resource := asked.kind.GroupVersionResource
	if err := s.Store.Delete(resource, asked.Namespace, asked.Name, asked.DeleteOptions.Preconditions); err != nil {
		return err
	}
	if resource.Resource != "namespaces" {
		return nil
	}
	for _, kind := range s.kinds {
		for _, object := range s.Store.All(kind.GroupVersionResource, asked.Name) {
			head, err := meta.Accessor(object)
			if err != nil {
				return err
			}
			if err := s.Store.Delete(kind.GroupVersionResource, asked.Name, head.GetName(), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// Answer is an object as a response.
func (s *Server) Answer(asked *Request, status int, object runtime.Object) Response {
	text, err := s.encode(object, asked.format)
	if err != nil {
		status = http.StatusInternalServerError
		failure := apierrors.NewInternalError(fmt.Errorf("encoding the answer: %w", err))
		text, _ = s.encode(&failure.ErrStatus, format{media: asked.format.media}) // a Status can be encoded
	}
	return Response{Status: status, Header: http.Header{"Content-Type": {asked.format.media}}, Body: text}
}

// Refuse is an error as a response: a metav1.Status.
func (s *Server) Refuse(asked *Request, err error) Response {
	var known apierrors.APIStatus
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()
	if status.Code == 0 {
		status.Code = http.StatusInternalServerError
	}
	response := s.Answer(&Request{format: format{media: asked.format.media}}, int(status.Code), &status)
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		response.Header.Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	return response
}

// GroupResource names a resource in errors.
func (r *Request) GroupResource() schema.GroupResource {
	if r.kind == nil {
		return schema.GroupResource{}
	}
	return schema.GroupResource{Group: r.kind.Group, Resource: r.Resource()}
}
