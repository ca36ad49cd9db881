package runbooktest

import (
	"testing"

	"k8s.io/client-go/rest"

	"salve/internal/kubetest"
)

// Cluster gives the way to a real control plane, as a user who may do everything: etcd,
// API server, controllers and scheduler, whose nodes are kwok's. All tests of a process
// share it. SALVE_CONTROL_PLANE names the folder with its programs, which Salve's «make
// control-plane» builds; by default it is bin/control-plane in the module of the test.
func Cluster(t testing.TB) *rest.Config {
	t.Helper()
	return kubetest.Start(t).Config()
}

// Namespace makes a namespace in Cluster, which is deleted after the test.
func Namespace(t testing.TB) string {
	t.Helper()
	return kubetest.Start(t).Namespace(t)
}
