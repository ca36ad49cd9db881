package endtoend_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"salve/internal/kubetest"
)

const rolesFile = "../../deploy/cluster-role.yaml"

// seldom are rights that only an unlucky run uses.
var seldom = map[string]string{
	"get nodes":   "a node that changed while it was cordoned is read again",
	"get pods":    "a pod that is said to have changed is read again",
	"watch nodes": "nodes are mostly Ready when ARM's operation ends",
}

// TestTheRolesInDeployAreExactlyWhatIsUsed: the runbook passes with them, and each
// right in them is used.
func TestTheRolesInDeployAreExactlyWhatIsUsed(t *testing.T) {
	plane := kubetest.Start(t)
	kubectl := func(arguments ...string) {
		t.Helper()
		command := exec.Command(plane.Program("kubectl"),
			append([]string{"--kubeconfig", plane.Kubeconfig()}, arguments...)...)
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("kubectl %s: %v: %s", strings.Join(arguments, " "), err, output)
		}
	}
	kubectl("apply", "-f", rolesFile)
	kubectl("create", "clusterrolebinding", "salve", "--clusterrole=salve", "--user=runner")
	kubectl("-n", "salve-system", "create", "rolebinding", "salve", "--clusterrole=salve-journal", "--user=runner")
	kubectl("-n", "salve-system", "create", "rolebinding", "salve-key",
		"--role=salve-key-aks-recreate-pool", "--user=runner")
	kubectl("-n", "salve-system", "create", "secret", "generic", "journal-key-aks-recreate-pool",
		"--from-literal=key="+strings.Repeat("5a", 32))

	runner := plane.KubeconfigOfRunner(t)
	s := serve(t, runner)
	s.namespace = "salve-system"
	s.exits(s.run(), 0)
	s.recovered()
	s.exits(s.salve("runs", "list", "--kubeconfig", runner, "--journal-namespace", s.namespace), 0)

	used, given := plane.Requests(t, "runner"), rights(t)
	for _, right := range used {
		if !slices.Contains(given, right) {
			t.Errorf("%q was asked for and is not in %s", right, rolesFile)
		}
	}
	for _, right := range given {
		if !slices.Contains(used, right) && seldom[right] == "" {
			t.Errorf("%q is in %s and was not used", right, rolesFile)
		}
	}
}

// rights are those of all roles in the file, as "verb resource.group".
func rights(t *testing.T) (rights []string) {
	raw, err := os.ReadFile(rolesFile)
	if err != nil {
		t.Fatal(err)
	}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096)
	for {
		var role rbacv1.ClusterRole
		err := documents.Decode(&role)
		if errors.Is(err, io.EOF) {
			return rights
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				if rule.APIGroups[0] != "" {
					resource += "." + rule.APIGroups[0]
				}
				for _, verb := range rule.Verbs {
					rights = append(rights, verb+" "+resource)
				}
			}
		}
	}
}
