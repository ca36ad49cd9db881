package apiserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// Request is one decoded request.
type Request struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection; get outside of resources.
	Verb string
	// Namespace and Name are empty where there is none. Name is that of the body for an object that is created.
	Namespace, Name, Subresource string
	// Object is the decoded body of create and update.
	Object runtime.Object
	// DeleteOptions are those of delete.
	DeleteOptions metav1.DeleteOptions

	kind    *Kind // nil: discovery, or nothing that is served
	path    string
	named   bool // the URL has the name
	options metav1.ListOptions
	patch   []byte
	format  format
	// wrong is why the request can't be executed.
	wrong error
}

// Mutating tells whether executing the request may change something. Reviews are questions.
func (r *Request) Mutating() bool {
	changes := slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.Verb)
	return changes && (r.kind == nil || !r.kind.virtual)
}

// Resource is the resource with its subresource, such as "pods/eviction"; empty outside of resources.
func (r *Request) Resource() string {
	switch {
	case r.kind == nil:
		return ""
	case r.Subresource != "":
		return r.kind.Resource + "/" + r.Subresource
	}
	return r.kind.Resource
}

// String names what is asked about: "nodes/name", "pods/eviction ns/name", "pods ns" for a list of a
// namespace, or a path.
func (r *Request) String() string {
	text := r.Resource()
	switch {
	case r.kind == nil:
		return r.path
	case r.Namespace == "" && r.Name == "":
		return text
	case r.Namespace == "":
		return text + "/" + r.Name
	case r.Name == "":
		return text + " " + r.Namespace
	}
	return text + " " + r.Namespace + "/" + r.Name
}

// Read decodes a request. It never fails: what is wrong with it is said when it is executed.
func (s *Server) Read(r *http.Request, body []byte) *Request {
	asked := &Request{path: r.URL.Path}
	asked.format, asked.wrong = negotiate(r.Header.Get("Accept"))
	asked.find(s.kinds, r.URL.Path)
	asked.findVerb(r)
	if asked.kind == nil || asked.wrong != nil {
		return asked
	}
	if r.URL.Query().Has("dryRun") {
		asked.wrong = apierrors.NewBadRequest("dryRun is not supported by the embedded cluster")
		return asked
	}
	asked.wrong = s.readBody(asked, r.Header.Get("Content-Type"), body)
	return asked
}

// find reads the path: /api/v1 or /apis/group/version, a namespace, a resource, a name, a subresource.
func (r *Request) find(kinds []Kind, path string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	group, version := "", ""
	switch {
	case len(parts) > 2 && parts[0] == "api":
		version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group, version, parts = parts[1], parts[2], parts[3:]
	default:
		return
	}
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		r.Namespace, parts = parts[1], parts[2:]
	}
	index := slices.IndexFunc(kinds, func(k Kind) bool {
		return k.Group == group && k.Version == version && k.Resource == parts[0] && (k.Namespaced || r.Namespace == "")
	})
	if index < 0 || len(parts) > 3 {
		r.Namespace = ""
		return
	}
	r.kind = &kinds[index]
	if len(parts) > 1 {
		r.Name, r.named = parts[1], true
	}
	if len(parts) > 2 {
		r.Subresource = parts[2]
	}
}

func (r *Request) findVerb(asked *http.Request) {
	r.Verb = map[string]string{
		http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
	}[asked.Method]
	if r.Verb == "" {
		r.Verb = "get"
	}
	if r.kind == nil || r.Name != "" {
		return
	}
	err := scheme.ParameterCodec.DecodeParameters(asked.URL.Query(), corev1.SchemeGroupVersion, &r.options)
	if err != nil {
		r.wrong = apierrors.NewBadRequest(err.Error())
	}
	switch {
	case r.Verb == "delete":
		r.Verb = "deletecollection"
	case r.Verb == "get" && r.options.Watch:
		r.Verb = "watch"
	case r.Verb == "get":
		r.Verb = "list"
	}
}

// readBody decodes what the verb needs of the body.
func (s *Server) readBody(r *Request, contentType string, body []byte) error {
	switch r.Verb {
	case "create", "update":
		object, err := runtime.Decode(s.decoder, body)
		if err != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized: %v", err))
		}
		head, err := meta.Accessor(object)
		if err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		if r.Name == "" {
			r.Name = head.GetName()
		}
		r.Object = object
		return r.checkObject(head)
	case "patch":
		if contentType != "application/merge-patch+json" {
			return unsupportedMedia("patch of type " + contentType)
		}
		r.patch = body
	case "delete", "deletecollection":
		if len(body) == 0 {
			return nil
		}
		kind := corev1.SchemeGroupVersion.WithKind("DeleteOptions")
		if _, _, err := s.decoder.Decode(body, &kind, &r.DeleteOptions); err != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("the delete options provided are unrecognized: %v", err))
		}
		if len(r.DeleteOptions.DryRun) > 0 {
			return apierrors.NewBadRequest("dryRun is not supported by the embedded cluster")
		}
	}
	return nil
}

// checkObject refuses a body that is about something else than the path.
func (r *Request) checkObject(head metav1.Object) error {
	kind := r.Object.GetObjectKind().GroupVersionKind()
	switch {
	case r.Subresource == "" && kind != r.kind.gvk():
		return apierrors.NewBadRequest(fmt.Sprintf("%s in the body does not match the expected %s", kind, r.kind.gvk()))
	case head.GetName() != "" && r.Name != head.GetName():
		return apierrors.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s) does not match the name on the URL (%s)", head.GetName(), r.Name))
	case head.GetNamespace() != "" && r.Namespace != head.GetNamespace():
		return apierrors.NewBadRequest(fmt.Sprintf(
			"the namespace of the provided object does not match the namespace sent on the request: %s, %s",
			head.GetNamespace(), r.Namespace))
	}
	head.SetName(r.Name)
	return nil
}
