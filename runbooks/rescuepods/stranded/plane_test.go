package stranded_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"salve/internal/kubetest"
	"salve/internal/permit"
	"salve/kube"
	"salve/runbook"
)

// granted is a permit, as the engine mints them.
func granted() runbook.Permit {
	return permit.Mint(permit.Terms{
		Run: "run-1", Step: "remove", Epoch: 1, Expires: time.Now().Add(time.Hour), Now: time.Now,
		Lease: func(context.Context) error { return nil },
	})
}

// connected is a cluster as Salve reaches it.
func connected(t testing.TB, plane *kubetest.ControlPlane) *kube.Cluster {
	t.Helper()
	cluster, err := kube.Open(plane.Kubeconfig(), "", clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
