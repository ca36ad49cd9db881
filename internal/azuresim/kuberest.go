package azuresim

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"salve/internal/azuresim/apiserver"
)

// KubernetesConfig leads client-go's clients to the embedded cluster in process, as somebody who may do everything; nil
// when the World was given a cluster.
func (w *World) KubernetesConfig() *rest.Config {
	if w.kube == nil {
		return nil
	}
	return &rest.Config{Host: w.kubernetesServer(), Transport: inProcess(w.serveKubernetes), QPS: -1}
}

// Kubernetes is a client of the embedded cluster for whoever acts there besides Salve; nil when the World
// was given a cluster.
func (w *World) Kubernetes() kubernetes.Interface {
	if w.kube == nil {
		return nil
	}
	// it can't fail: the host is a URL, and there is no TLS to read
	return kubernetes.NewForConfigOrDie(w.KubernetesConfig())
}

// KubernetesHandler speaks the embedded cluster's REST API to whoever is let in.
func (w *World) KubernetesHandler() http.Handler { return handler{inProcess(w.serveKubernetes)} }

// serveKubernetes is the way of every request to the embedded cluster: recorded, asked about, subjected to
// the faults, executed.
func (w *World) serveKubernetes(r *http.Request, body []byte) (*http.Response, error) {
	asked := w.kube.api.Read(r, body)
	call := w.record(Call{
		API: apiKubernetes, Verb: asked.Verb, Resource: asked.String(), Mutating: asked.Mutating(),
		RequestID: r.Header.Get("Audit-ID"),
	})
	treated := w.treat(call)
	if treated.verdict == DropBefore {
		return nil, networkError(false)
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w.lock()
	injected := w.model.faults.apply(call)
	answer := treated.kubernetesAnswer(r.Context(), w.kube.api, asked, func(ctx context.Context) apiserver.Response {
		if err := refusalOf(injected, asked); err != nil {
			return w.kube.api.Refuse(asked, err)
		}
		return w.kube.api.Execute(ctx, asked)
	})
	if asked.Mutating() && answer.Status < http.StatusBadRequest {
		w.kube.reconcile()
	}
	w.startConcurrentWriters(call)
	w.finish(call, answer.Status)
	w.unlock()
	treated.executed()

	var lost error
	switch inTime := w.wait(r.Context(), injected.hang+treated.delay); {
	case !inTime:
		lost = r.Context().Err()
	case treated.verdict == DropAfter || injected.lost:
		lost = networkError(true)
	}
	if lost == nil {
		return responseTo(r, answer.Status, answer.Header, answer.Body, answer.Stream), nil
	}
	if answer.Stream != nil {
		_ = answer.Stream.Close() // never fails
	}
	return nil, lost
}

// refusalOf is a fault's effect as an API server's error.
func refusalOf(v effect, asked *apiserver.Request) error {
	kind, name := asked.GroupResource(), asked.Name
	switch v.status {
	case 0:
		return nil
	case http.StatusTooManyRequests:
		return apierrors.NewTooManyRequests("too many requests, please try again later", int(v.retryAfter.Seconds()))
	case http.StatusForbidden:
		return apierrors.NewForbidden(kind, name, fmt.Errorf("the user has no permission"))
	}
	return apierrors.NewGenericServerResponse(v.status, asked.Verb, schema.GroupResource{Resource: kind.Resource}, name,
		"the server is having trouble", 0, true)
}
