package recreatepool

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"salve/azure"
	"salve/kube"
)

// TestNodesAreSplitByLabelAndName: a node that only its name gives to the pool has lost
// its label, and the list is not believed.
func TestNodesAreSplitByLabelAndName(t *testing.T) {
	node := func(name string) kube.Node { return kube.Node{Name: name, UID: types.UID(name)} }
	first, second := node("aks-system-1-vmss000000"), node("aks-system-1-vmss00000a")
	other, longer := node("aks-workers-2-vmss000000"), node("aks-system-1-vmss20000000")
	for name, row := range map[string]struct {
		all, labelled    []kube.Node
		own, others, err string
	}{
		"all are labelled": {
			[]kube.Node{first, second, other}, []kube.Node{first, second}, "[aks-system-1-vmss000000 aks-system-1-vmss00000a]",
			"[aks-workers-2-vmss000000]", "",
		},
		"one has lost its label": {
			[]kube.Node{first, second, other}, []kube.Node{first}, "[]", "[]",
			`unknown nodes: "aks-system-1-vmss00000a" is named after the pool's scale set but lacks the pool's label`,
		},
		"another scale set's name begins so": {
			[]kube.Node{first, longer}, []kube.Node{first}, "[aks-system-1-vmss000000]", "[aks-system-1-vmss20000000]", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			own, others, err := splitNodes(row.all, row.labelled, []string{"aks-system-1-vmss"})
			if fmt.Sprint(names(own)) != row.own || fmt.Sprint(names(others)) != row.others {
				t.Errorf("got %v and %v", names(own), names(others))
			}
			if err == nil && row.err != "" || err != nil && err.Error() != row.err {
				t.Errorf("got %v", err)
			}
		})
	}
}

func names(nodes []kube.Node) []string {
	all := []string{}
	for _, node := range nodes {
		all = append(all, node.Name)
	}
	return all
}

func TestStandInReady(t *testing.T) {
	name := standInName(inputs().poolID(), "")
	tagged := func(run, state string) []azure.Pool {
		tags := map[string]string{"purpose": "salve-stand-in", "salve-source": inputs().poolID(), "salve-run": run}
		return []azure.Pool{{Name: name, State: state, Tags: tags}, {Name: "system", Count: 2}}
	}
	ours := tagged("run-1", "Succeeded")
	serves, cordoned := kube.Node{Ready: true}, kube.Node{Ready: true, Unschedulable: true}
	both := []kube.Node{serves, serves}
	for what, row := range map[string]struct {
		pools []azure.Pool
		nodes []kube.Node
		want  expected
	}{
		"all serve":              {ours, both, holds},
		"one is cordoned":        {ours, []kube.Node{serves, cordoned}, failed},
		"none is to be seen":     {ours, nil, failed},
		"it is being deleted":    {tagged("run-1", "Deleting"), both, failed},
		"it is another run's":    {tagged("run-0", "Succeeded"), both, needsAttention},
		"ARM does not list it":   {ours[1:], both, failed},
		"more serve than wanted": {ours, []kube.Node{serves, serves, serves}, holds},
	} {
		t.Run(what, func(t *testing.T) {
			expectFinding(t, standInReady(withNodes{reading: readingOfPools(row.pools...), Nodes: row.nodes}), row.want)
		})
	}
}
