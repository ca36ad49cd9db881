package recreatepool

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"salve/azure"
	"salve/kube"
	"salve/runbook"
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
	in := inputs()
	tags := map[string]string{"purpose": "salve-stand-in", "salve-source": in.poolID(), "salve-run": "run-1"}
	pool := azure.Pool{Name: "s1", State: "Succeeded", Tags: tags}
	deleting, theirs := pool, pool
	deleting.State, theirs.Tags = "Deleting", map[string]string{"purpose": "salve-stand-in", "salve-source": in.poolID(), "salve-run": "run-0"}
	serves, cordoned := kube.Node{Ready: true}, kube.Node{Ready: true, Unschedulable: true}
	for name, row := range map[string]struct {
		pools  []azure.Pool
		nodes  []kube.Node
		answer runbook.Answer
		ends   runbook.Outcome
	}{
		"all serve":              {[]azure.Pool{pool}, []kube.Node{serves, serves}, runbook.AnswerHolds, ""},
		"one is cordoned":        {[]azure.Pool{pool}, []kube.Node{serves, cordoned}, runbook.AnswerDoesNotHold, runbook.Failed},
		"none is to be seen":     {[]azure.Pool{pool}, nil, runbook.AnswerDoesNotHold, runbook.Failed},
		"it is being deleted":    {[]azure.Pool{deleting}, []kube.Node{serves, serves}, runbook.AnswerDoesNotHold, runbook.Failed},
		"it is another run's":    {[]azure.Pool{theirs}, []kube.Node{serves, serves}, runbook.AnswerDoesNotHold, runbook.NeedsAttention},
		"ARM does not list it":   {nil, []kube.Node{serves, serves}, runbook.AnswerDoesNotHold, runbook.Failed},
		"more serve than wanted": {[]azure.Pool{pool}, []kube.Node{serves, serves, serves}, runbook.AnswerHolds, ""},
	} {
		t.Run(name, func(t *testing.T) {
			seen := load{
				Inputs: in, cluster: azure.Cluster{Pools: row.pools}, standIn: standIn{name: "s1", size: 2}, run: "run-1", nodes: row.nodes,
			}
			expectFinding(t, standInReady(seen), row.answer, row.ends)
		})
	}
}
