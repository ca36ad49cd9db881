package endtoend_test

import (
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/azure"
	"salve/internal/azuresim"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
)

// recovered checks, from what the served Azure received and from what it is now,
// that the pool was mended once and nothing else was done.
func (s *stage) recovered() {
	s.Helper()
	s.onceEach()
	s.announced()
	var end azuresim.State
	s.ask("snapshot", &end)
	for _, was := range s.start.Pools {
		is, found := pool(end, was.Name)
		if !found {
			s.Errorf("pool %s is gone", was.Name)
			continue
		}
		different, err := definition(was).Differences(definition(is))
		if err != nil || len(different) > 0 {
			s.Errorf("pool %s differs from what it was: %v %v", was.Name, different, err)
		}
		if was.Corrupted && is.ScaleSet == was.ScaleSet {
			s.Errorf("pool %s is still on scale set %s", was.Name, was.ScaleSet)
		}
	}
	if len(end.Pools) != len(s.start.Pools) {
		s.Errorf("%d pools became %d: a stand-in is left", len(s.start.Pools), len(end.Pools))
	}
	nodes, err := s.plane.Client().CoreV1().Nodes().List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	for _, node := range nodes.Items {
		if node.Annotations[kube.CordonedBy] != "" || node.Spec.Unschedulable || !ready(node) {
			s.Errorf("node %s is left cordoned or not Ready", node.Name)
		}
	}
}

func ready(node corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// onceEach: the pool was deleted once and created once, a stand-in made once and
// removed once.
func (s *stage) onceEach() {
	s.Helper()
	accepted := map[string]int{}
	for _, change := range s.changes() {
		if change.Status < 200 || change.Status > 299 || change.Verb == http.MethodPost || change.Verb == http.MethodPatch {
			continue
		}
		who := "the stand-in"
		if strings.HasSuffix(strings.ToLower(change.Resource), "/agentpools/system") {
			who = "the pool"
		}
		accepted[change.Verb+" of "+who]++
	}
	for _, change := range []string{
		"DELETE of the pool", "PUT of the pool", "PUT of the stand-in", "DELETE of the stand-in",
	} {
		if accepted[change] != 1 {
			s.Errorf("%s was accepted %d times: %v", change, accepted[change], accepted)
		}
	}
}

// announced: each change carries the permit of an intent that was in the journal
// before it.
func (s *stage) announced() {
	s.Helper()
	intents := map[string]time.Time{}
	for _, record := range s.records() {
		for _, entry := range record.Entries {
			if entry.Kind != journal.Intended {
				continue
			}
			intent, err := entryOf[journal.Intent](entry)
			if err != nil {
				s.Fatal(err)
			}
			intents[intent.Permit] = entry.At
		}
	}
	for _, change := range s.changes() {
		if at, found := intents[change.RequestID]; change.RequestID == "" || !found || at.After(change.At) {
			s.Errorf("%s %s at %s (%q) was not announced before (%s)",
				change.Verb, change.Resource, change.At, change.RequestID, at)
		}
	}
}

// outcomes are those of the closed runs, oldest first.
func (s *stage) outcomes() (outcomes []runbook.Outcome) {
	s.Helper()
	for _, record := range s.records() {
		if record.Closed == nil {
			s.Errorf("run %s is open", record.Run)
			continue
		}
		outcomes = append(outcomes, record.Closed.Outcome)
	}
	return outcomes
}

func pool(state azuresim.State, name string) (azuresim.PoolState, bool) {
	for _, pool := range state.Pools {
		if pool.Name == name {
			return pool, true
		}
	}
	return azuresim.PoolState{}, false
}

func definition(pool azuresim.PoolState) azure.Definition {
	return azure.Definition(`{"properties":` + string(pool.Definition) + `}`)
}
