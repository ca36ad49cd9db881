package kube

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"salve/internal/apierr"
)

func TestListOfNodesIsComparedWithASecondSource(t *testing.T) {
	t.Parallel()
	counts := func(n int) ExpectedNodes { return ExpectedNodes{Source: "ARM", Count: &n} }
	seen := func(nodes ...Node) ExpectedNodes { return ExpectedNodes{Source: "the snapshot", Nodes: nodes} }
	there, other := Node{Name: "there", UID: "1"}, Node{Name: "other", UID: "2"}
	deleted, replaced := Node{Name: "deleted", UID: "3"}, Node{Name: "there", UID: "of-an-earlier-one"}
	withCount := seen(deleted)
	three := 3
	withCount.Count = &three
	resource := schema.GroupResource{Resource: "nodes"}
	for name, c := range map[string]struct {
		listed   []Node
		expected ExpectedNodes
		answer   error
		unknown  string // in the error; empty when there is none
	}{
		"listed, nothing is known":      {listed: []Node{there}},
		"none listed, nothing is known": {unknown: "nothing says how many"},
		"none listed, ARM counts none":  {expected: counts(0)},
		"none listed, ARM counts three": {expected: counts(3), unknown: "ARM counts 3"},
		"fewer listed than ARM counts":  {listed: []Node{there}, expected: counts(3)},
		"none listed, the node lost its label": {expected: seen(there),
			unknown: `"there" known from the snapshot exist`},
		"one listed, another lost its label": {listed: []Node{there}, expected: seen(there, other),
			unknown: `"other"`},
		"none listed, the node was deleted":          {expected: seen(deleted)},
		"none listed, deleted, and ARM counts three": {expected: withCount},
		"none listed, another machine has the name":  {expected: seen(replaced)},
		"none listed, the node can't be read": {expected: seen(there), answer: apierrors.NewForbidden(resource,
			"there", errors.New("no")), unknown: "forbidden"},
		"none listed, another one is said not found": {expected: seen(there),
			answer: apierrors.NewNotFound(resource, "xyz"), unknown: "something else is not found"},
		"none listed, the path is said not to be there": {expected: seen(there),
			answer:  apierrors.NewGenericServerResponse(http.StatusNotFound, "get", resource, "there", "", 0, true),
			unknown: "could not find"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(
					&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "there", UID: "1"}},
					&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "other", UID: "2"}})
				if c.answer != nil {
					client.PrependReactor("get", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
						return true,
							nil, c.answer
					})
				}
				cluster := &Cluster{Client: client, Clock: clock.RealClock{}}
				err := cluster.VerifyNodes(t.Context(), c.listed, c.expected)
				switch {
				case c.unknown == "" && err != nil, c.unknown != "" && err == nil:
					t.Errorf("got %v, want %q", err, c.unknown)
				case err != nil && (!strings.Contains(err.Error(), c.unknown) || apierr.ClassOf(err) == apierr.Missing):
					t.Errorf("got %v of class %s, want %q", err, apierr.ClassOf(err), c.unknown)
				}
			})
		})
	}
}

func TestEmptySelectionIsNotDrained(t *testing.T) {
	t.Parallel()
	none, some := 0, 2
	for name, c := range map[string]struct {
		expected *ExpectedNodes
		refused  bool
	}{
		"nothing is known":               {nil, true},
		"ARM counts two":                 {&ExpectedNodes{Source: "ARM", Count: &some}, true},
		"ARM counts none":                {&ExpectedNodes{Source: "ARM", Count: &none}, false},
		"an expectation without content": {&ExpectedNodes{}, true},
	} {
		onAPI(t, []string{"web-0"}, func(t *testing.T, _ *api, cluster *Cluster) {
			drained, err := cluster.Drain(under(t.Context(), nil), nil,
				DrainOptions{Deadline: time.Minute, Expected: c.expected})
			if (err != nil) != c.refused || len(drained.Evicted) > 0 {
				t.Errorf("%s: drained %+v, %v", name, drained, err)
			}
			if _, err := cluster.PodsToEvict(t.Context(), nil, c.expected); (err != nil) != c.refused {
				t.Errorf("%s: pods to evict: %v", name, err)
			}
		})
	}
}

func TestNodesWithOtherLabelsAreNotTakenForTheSelection(t *testing.T) {
	t.Parallel()
	onAPI(t, nil, func(t *testing.T, a *api, c *Cluster) {
		a.answer = func(*http.Request, string) *http.Response { // whoever answers ignores the selector
			return said(http.StatusOK, corev1.NodeList{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"},
				Items:    []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"pool": "other"}}}},
			})
		}
		if nodes, err := c.Nodes(t.Context(), "pool=system"); err == nil || !strings.Contains(err.Error(),
			"unexpected object") {
			t.Errorf("got %v, %v", nodes, err)
		}
		if nodes, err := c.Nodes(t.Context(), "pool=other"); err != nil || len(nodes) != 1 {
			t.Errorf("got %v, %v", nodes, err)
		}
	})
}

func TestNodeIsPatchedAsItWasRead(t *testing.T) {
	t.Parallel()
	stored := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1", ResourceVersion: "7"}}
	for name, c := range map[string]struct {
		node  Node
		wants []string // in the patch; none when there must be none
		fails bool
	}{
		"as it was listed": {Node{Name: "a", UID: "1", version: "5"},
			[]string{`"uid":"1"`, `"resourceVersion":"5"`}, false},
		"of a record: it is read":     {Node{Name: "a", UID: "1"}, []string{`"uid":"1"`, `"resourceVersion":"7"`}, false},
		"another one of that name":    {Node{Name: "a", UID: "2"}, nil, false},
		"its identity is not known":   {Node{Name: "a", version: "5"}, nil, true},
		"one that does not exist now": {Node{Name: "b", UID: "2"}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := fake.NewClientset(stored.DeepCopy())
			cluster := &Cluster{Client: client, Clock: clock.RealClock{}}
			if err := cluster.Cordon(under(t.Context(), nil), c.node); (err != nil) != c.fails {
				t.Errorf("got %v", err)
			}
			var patches []string
			for _, action := range client.Actions() {
				if patch, ok := action.(clienttesting.PatchAction); ok {
					patches = append(patches, string(patch.GetPatch()))
				}
			}
			if len(c.wants) == 0 && len(patches) > 0 || len(c.wants) > 0 && len(patches) != 1 {
				t.Fatalf("patched %v", patches)
			}
			for _, want := range c.wants {
				if !strings.Contains(patches[0], want) {
					t.Errorf("patched %s without %s", patches[0], want)
				}
			}
		})
	}
}
