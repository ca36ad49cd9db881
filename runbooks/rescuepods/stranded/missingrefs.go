package stranded

import (
	"context"
	"fmt"
	"sync"

	"salve/internal/apierr"
	"salve/kube"
)

// metadataOnly asks the API server for no more of an object than its metadata:
// what is in a Secret never leaves it.
const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// resourceOf is where the API has a kind that pods need; empty for any other.
func resourceOf(kind string) string {
	switch kind {
	case Secret:
		return "secrets"
	case ConfigMap:
		return "configmaps"
	case ServiceAccount:
		return "serviceaccounts"
	case Claim:
		return "persistentvolumeclaims"
	}
	return ""
}

// Exists tells whether an object that a pod may need is in a namespace. What it
// holds is not read.
func (s *Search) Exists(ctx context.Context, namespace, kind, name string) (bool, error) {
	resource := resourceOf(kind)
	if resource == "" || namespace == "" || name == "" {
		return false, apierr.New(apierr.Terminal,
			"invalid: %s %q in namespace %q is no object that a pod can need", kind, name, namespace)
	}
	err := s.Read(ctx, fmt.Sprintf("asking for %s %s/%s", kind, namespace, name), func(ctx context.Context) error {
		return s.Client.CoreV1().RESTClient().Get().Namespace(namespace).Resource(resource).Name(name).
			SetHeader("Accept", metadataOnly).Do(ctx).Error()
	})
	if err != nil && apierr.ClassOf(err) == apierr.Missing {
		return false, nil
	}
	return err == nil, err
}

// displacement is an object that a pod needs: it is not where the pod is, and it is
// in another namespace.
type missingReference struct {
	Reference
	in string
}

func (d missingReference) String() string { return d.Reference.String() + " is in " + d.in }

// references tells where the things are that pods refer to. It asks for each once
// and remembers the answer, failures too: make new ones for each reading.
type references struct {
	search *Search

	mu    sync.Mutex
	known map[referenceKey]func() (bool, error)
}

type referenceKey struct{ namespace, kind, name string }

// references makes new ones, which search the expected namespaces for what is missing
// where it is referred to.
func (s *Search) references() *references {
	return &references{search: s, known: map[referenceKey]func() (bool, error){}}
}

// displaced gives what a pod needs that is displaced. The error says what could
// not be seen; what is given beside it is certain all the same.
func (w *references) missing(ctx context.Context, pod Pod) (all []missingReference, blind error) {
	for _, need := range pod.Needs {
		here, err := w.exists(ctx, pod.Namespace, need)
		if err != nil {
			blind = err
		}
		if here || err != nil {
			continue
		}
		for _, other := range w.search.Expected {
			there, err := w.exists(ctx, other, need)
			if err != nil {
				blind = err
			}
			if there {
				all = append(all, missingReference{need, other})
				break
			}
		}
	}
	return all, blind
}

// ask asks at once for all that pods need, so that displaced need not wait. What
// can't be seen is said there.
func (w *references) ask(ctx context.Context, pods []Pod) error {
	return kube.Parallel(ctx, len(pods), func(ctx context.Context, i int) error {
		_, _ = w.missing(ctx, pods[i]) // remembered
		return context.Cause(ctx)
	})
}

func (w *references) exists(ctx context.Context, namespace string, need Reference) (bool, error) {
	key := referenceKey{namespace, need.Kind, need.Name}
	w.mu.Lock()
	answer, asked := w.known[key]
	if !asked {
		answer = sync.OnceValues(func() (bool, error) { return w.search.Exists(ctx, namespace, need.Kind, need.Name) })
		w.known[key] = answer
	}
	w.mu.Unlock()
	return answer()
}
