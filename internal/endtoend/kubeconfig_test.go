package endtoend_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// clusterPipeline acts on the cluster that its step names, with nothing that the runner has for it.
const clusterPipeline = `$schema: pipeline.schema.v1
serviceGroup: Example.Fleet
rolloutName: Fleet
resourceGroups:
- name: fleet
  resourceGroup: fleet
  subscription: 5a1e0000-0000-4000-8000-000000000001
  steps:
  - name: mark
    action: Shell
    aksCluster: CLUSTER
    shellIdentity: {value: none}
    command: |
      test "$AKSCluster" = CLUSTER -a "$ResourceGroup" = fleet -a "$Subscription" = 5a1e0000-0000-4000-8000-000000000001
      test "$(stat -c %a "$KUBECONFIG")" = 600
      echo "file=$KUBECONFIG" >> "$SALVE_OUTPUT"
      KUBECTL --namespace NAMESPACE create configmap from-a-step
    outputs: [file]
  - name: after
    action: Shell
    shellIdentity: {value: none}
    command: test ! -e "$FILE" -a -z "${KUBECONFIG:-}"
    variables:
    - {name: FILE, input: {resourceGroup: fleet, step: mark, name: file}}
`

// TestAShellStepReachesTheClusterThatItNames: ARM gives the kubeconfig, which is there as long as the step, and for no
// other step.
func TestAShellStepReachesTheClusterThatItNames(t *testing.T) {
	s := serveWorld(t, "healthy")
	namespace := s.plane.Namespace(t)
	kubectl := s.plane.Program("kubectl")
	folder := t.TempDir()
	write := func(cluster string) string {
		path := filepath.Join(folder, cluster+".yaml")
		text := strings.NewReplacer("CLUSTER", cluster, "KUBECTL", kubectl, "NAMESPACE", namespace).Replace(clusterPipeline)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s.Environment["SALVE_JOURNAL_KEY_FILE"] = filepath.Join(folder, "key")
	s.Environment["KUBECONFIG"] = "/nowhere"
	run := func(cluster string, want int) string {
		arguments := []string{"pipeline", "run", write(cluster), "--journal", filepath.Join(folder, "journal-"+cluster)}
		return s.exits(s.salve(append(arguments, s.toAzure()...)...), want)
	}
	run("aks-1", 0)
	made := s.plane.Client().CoreV1().ConfigMaps(namespace)
	if _, err := made.Get(t.Context(), "from-a-step", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	said := run("aks-2", 1)
	if !strings.Contains(said, "access to cluster aks-2: ") || !strings.Contains(said, "not found") {
		t.Errorf("it says:\n%s", said)
	}
}
