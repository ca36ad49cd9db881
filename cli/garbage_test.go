package cli

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/journal/configmap"
	"salve/runbooks/recreatepool"
)

// TestGarbageAmongTheRecordsIsInNobodysWay: whoever may write ConfigMaps can put anything among the records. It is
// listed as broken, no run is stopped by it, and prune --broken removes it.
func TestGarbageAmongTheRecordsIsInNobodysWay(t *testing.T) {
	b := newBench(t, "wedged")
	inCluster := withoutJournal(b.onCluster())
	_, err := b.world.Kubernetes().CoreV1().Namespaces().Create(context.Background(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: configmap.DefaultNamespace}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	maps := b.world.Kubernetes().CoreV1().ConfigMaps(configmap.DefaultNamespace)
	for name, data := range map[string]map[string]string{
		"garbage": {"lines": "\x1b[2Jwhat is this?"}, "nothing": nil, "numbers": {"1": "{}", "x": "y"},
	} {
		_, err := maps.Create(context.Background(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Name: "run-" + name + "-1", Namespace: configmap.DefaultNamespace,
				Labels: map[string]string{"app.kubernetes.io/managed-by": "salve", "salve-run": name, "salve-part": "1"},
			},
			Data: data,
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	out, _ := b.types(exitNeedsAttention, append([]string{"runs", "list"}, inCluster...)...)
	contains(t, out, "garbage", "nothing", "numbers", "3 broken")
	out, _ = b.types(exitDecided, append([]string{"run", recreatepool.Name, "--pool", "system"}, inCluster...)...)
	contains(t, out, "Remediated aks-1/system")
	out, _ = b.types(exitDecided, append([]string{"runs", "prune", "--broken"}, inCluster...)...)
	contains(t, out, "3 runs deleted")
	out, _ = b.types(exitDecided, append([]string{"runs", "list"}, inCluster...)...)
	if contains(t, out, "remediated", "1 run in"); strings.Contains(out, "garbage") {
		t.Error(out)
	}
}
