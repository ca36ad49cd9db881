package configmap_test

import (
	"net/http"
	"sync/atomic"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"salve/journal/configmap"
)

// sleeper holds a process's requests back, as SIGSTOP does.
type sleeper struct {
	next   http.RoundTripper
	asleep atomic.Bool
}

func (s *sleeper) wrap(next http.RoundTripper) http.RoundTripper {
	s.next = next
	return s
}

func (s *sleeper) sleep(asleep bool) { s.asleep.Store(asleep) }

// RoundTrip fails while asleep: nothing of the process reaches the server.
func (s *sleeper) RoundTrip(request *http.Request) (*http.Response, error) {
	if s.asleep.Load() {
		return nil, http.ErrHandlerTimeout
	}
	return s.next.RoundTrip(request)
}

// stranger has no rights in the cluster.
func (b *bench) stranger() *configmap.Journal {
	config, err := clientcmd.BuildConfigFromFlags("", b.plane.KubeconfigOf(b, "stranger"))
	b.must(err)
	client, err := kubernetes.NewForConfig(config)
	b.must(err)
	kept, err := configmap.New(configmap.Options{Client: client, Clock: clock.RealClock{}, Namespace: b.namespace})
	b.must(err)
	return kept
}
