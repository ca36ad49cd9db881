package apiserver

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// format is what a client accepts.
type format struct {
	media string
	// metadata: the client wants objects' metadata alone.
	metadata bool
}

const (
	asJSON     = runtime.ContentTypeJSON
	asProtobuf = runtime.ContentTypeProtobuf
)

// negotiate takes the first of the accepted formats that is spoken here.
func negotiate(accept string) (format, error) {
	if accept == "" {
		return format{media: asJSON}, nil
	}
	for wanted := range strings.SplitSeq(accept, ",") {
		media, parameters, err := mime.ParseMediaType(wanted)
		if err != nil {
			continue
		}
		if media == "*/*" || media == "application/*" {
			media = asJSON
		}
		as := parameters["as"]
		metadata := strings.HasPrefix(as, "PartialObjectMetadata")
		if (media == asJSON || media == asProtobuf) && (as == "" || metadata) {
			return format{media: media, metadata: metadata}, nil
		}
	}
	return format{media: asJSON}, &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: fmt.Sprintf("only %s and %s are served, not %s", asJSON, asProtobuf, accept),
	}}
}

func unsupportedMedia(what string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: what + " is not supported by the embedded cluster",
	}}
}

func (s *Server) serializer(media string) runtime.SerializerInfo {
	info, _ := runtime.SerializerInfoForMediaType(s.codecs.SupportedMediaTypes(), media)
	return info // negotiate gives none but those that there are
}

// encode writes an object in a format.
func (s *Server) encode(object runtime.Object, as format) ([]byte, error) {
	head, err := meta.Accessor(object)
	if as.metadata && err == nil {
		partial, err := metadataOf(head)
		if err != nil {
			return nil, err
		}
		object = partial
	}
	named, err := s.withKind(object)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := s.serializer(as.media).Serializer.Encode(named, &text); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// withKind is a shallow copy of an object that says its kind, which typed objects don't.
func (s *Server) withKind(object runtime.Object) (runtime.Object, error) {
	if !object.GetObjectKind().GroupVersionKind().Empty() {
		return object, nil
	}
	kinds, _, err := s.scheme.ObjectKinds(object)
	if err != nil {
		return nil, err
	}
	copied := reflect.New(reflect.TypeOf(object).Elem())
	copied.Elem().Set(reflect.ValueOf(object).Elem())
	named := copied.Interface().(runtime.Object) // it has the type of its original
	named.GetObjectKind().SetGroupVersionKind(kinds[0])
	return named, nil
}

func metadataOf(object any) (*metav1.PartialObjectMetadata, error) {
	head, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	partial := meta.AsPartialObjectMetadata(head)
	partial.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
	return partial, nil
}

// encodeEvent writes one frame of a watch.
func (s *Server) encodeEvent(event watch.Event, as format) ([]byte, error) {
	object, err := s.encode(event.Object, as)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	stream := s.serializer(as.media).StreamSerializer
	framed := stream.NewFrameWriter(&text)
	err = stream.Encode(&metav1.WatchEvent{Type: string(event.Type), Object: runtime.RawExtension{Raw: object}}, framed)
	return text.Bytes(), err
}

// streamType is the Content-Type of a watch.
func (f format) streamType() string {
	if f.media == asProtobuf {
		return asProtobuf + ";stream=watch"
	}
	return f.media
}
