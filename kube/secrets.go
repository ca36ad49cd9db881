package kube

import (
	"context"
	"fmt"
	"sync"

	"salve/fault"
)

// metadataOnly asks the API server for no more of an object than its metadata:
// what is in a Secret never leaves it.
const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// resources are where the API has the kinds that pods need.
var resources = map[string]string{
	Secret: "secrets", ConfigMap: "configmaps", ServiceAccount: "serviceaccounts", Claim: "persistentvolumeclaims",
}

// Exists tells whether an object that a pod may need is in a namespace. What it
// holds is not read.
func (c *Cluster) Exists(ctx context.Context, namespace, kind, name string) (bool, error) {
	resource, known := resources[kind]
	if !known || namespace == "" || name == "" {
		return false, fault.New(fault.Terminal, "asking for %s %q in namespace %q: that is no object that a pod can need", kind, name, namespace)
	}
	err := c.read(ctx, fmt.Sprintf("asking for %s %s/%s", kind, namespace, name), func(ctx context.Context) error {
		return c.Client.CoreV1().RESTClient().Get().Namespace(namespace).Resource(resource).Name(name).
			SetHeader("Accept", metadataOnly).Do(ctx).Error()
	})
	if err != nil && fault.ClassOf(err) == fault.Missing {
		return false, nil
	}
	return err == nil, err
}

// Displaced is an object that a pod needs: it is not where the pod is, and it is
// in another namespace.
type Displaced struct {
	Reference
	In string
}

func (d Displaced) String() string { return d.Reference.String() + " is in " + d.In }

// Whereabouts tells where the things are that pods need. It asks for each once
// and remembers the answer, failures too: make a new one for each look.
type Whereabouts struct {
	cluster *Cluster
	// others are the namespaces in which what is missing is looked for.
	others []string

	mu    sync.Mutex
	known map[whereabout]func() (bool, error)
}

type whereabout struct{ namespace, kind, name string }

// Whereabouts begins a look that searches other namespaces for what is missing
// where it is needed.
func (c *Cluster) Whereabouts(others []string) *Whereabouts {
	return &Whereabouts{cluster: c, others: others, known: map[whereabout]func() (bool, error){}}
}

// Displaced gives what a pod needs that is displaced. The error says what could
// not be seen; what is given beside it is certain all the same.
func (w *Whereabouts) Displaced(ctx context.Context, pod Pod) (displaced []Displaced, blind error) {
	for _, need := range pod.Needs {
		here, err := w.exists(ctx, pod.Namespace, need)
		if err != nil {
			blind = err
		}
		if here || err != nil {
			continue
		}
		for _, other := range w.others {
			there, err := w.exists(ctx, other, need)
			if err != nil {
				blind = err
			}
			if there {
				displaced = append(displaced, Displaced{need, other})
				break
			}
		}
	}
	return displaced, blind
}

// Ask asks at once for all that pods need, so that Displaced need not wait. What
// can't be seen is said there.
func (w *Whereabouts) Ask(ctx context.Context, pods []Pod) error {
	return sideBySide(ctx, len(pods), func(ctx context.Context, i int) error {
		_, _ = w.Displaced(ctx, pods[i]) // remembered
		return context.Cause(ctx)
	})
}

func (w *Whereabouts) exists(ctx context.Context, namespace string, need Reference) (bool, error) {
	key := whereabout{namespace, need.Kind, need.Name}
	w.mu.Lock()
	answer, asked := w.known[key]
	if !asked {
		answer = sync.OnceValues(func() (bool, error) { return w.cluster.Exists(ctx, namespace, need.Kind, need.Name) })
		w.known[key] = answer
	}
	w.mu.Unlock()
	return answer()
}
