package kube_test

import (
	"testing"

	"salve/internal/permit"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/internal/apierr"
	"salve/internal/kubetest"
	"salve/kube"
)

// TestOnlyTheVeryObjectIsDeleted: not another one of its name, none whose identity is
// not known, and none without a permit.
func TestOnlyTheVeryObjectIsDeleted(t *testing.T) {
	t.Parallel()
	plane := kubetest.Start(t)
	cluster, maps := connected(t, plane.Kubeconfig()), plane.Client().CoreV1().ConfigMaps(plane.Namespace(t))
	made, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "there"}},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	configMaps := kube.Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"},
		Kind: "ConfigMap", Namespaced: true}
	unknown, very := kube.ObjectOf(configMaps, made), kube.ObjectOf(configMaps, made)
	unknown.UID = ""
	if err := cluster.Delete(permit.NewContext(t.Context(), granted("run-1")), unknown); err == nil {
		t.Error("an object was deleted without its identity")
	}
	another := very
	another.UID = "of-another"
	if err := cluster.Delete(permit.NewContext(t.Context(), granted("run-1")), another); err != nil {
		t.Errorf("deleting what was replaced: %v", err)
	}
	if err := cluster.Delete(t.Context(), very); apierr.ClassOf(err) != apierr.Conflict || err == nil {
		t.Errorf("deleting without a permit: %v", err)
	}
	if _, err := maps.Get(t.Context(), "there", metav1.GetOptions{}); err != nil {
		t.Fatalf("it was deleted: %v", err)
	}
	for range 2 { // the second time it is gone
		if err := cluster.Delete(permit.NewContext(t.Context(), granted("run-1")), very); err != nil {
			t.Error(err)
		}
	}
	if _, err := maps.Get(t.Context(), "there", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("it is there: %v", err)
	}
}
