package rescuepods_test

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/engine"
	"salve/runbook"
)

// ends checks how a run or a check ended, and that its reason says something.
func (s *stage) ends(result engine.Result, want runbook.Outcome, says string) {
	s.Helper()
	if result.Outcome != want || !strings.Contains(result.Reason, says) {
		s.Errorf("ended %q: %s\nwant %q with %q", result.Outcome, result.Reason, want, says)
		for _, finding := range result.Findings {
			s.Logf("%s %s: %s", finding.Guard, finding.Answer, finding.Reason)
		}
	}
}

// there are the names of the pods of a namespace that nobody deleted.
func (s *stage) there(namespace string) (names []string) {
	s.Helper()
	list, err := s.client.CoreV1().Pods(namespace).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			names = append(names, pod.Name)
		}
	}
	return names
}

// remain checks that these are the pods of a namespace, besides those that were
// there from the first.
func (s *stage) remain(namespace string, names ...string) {
	s.Helper()
	if namespace == s.home {
		names = append(slices.Clone(atHome), names...)
	}
	if there := s.there(namespace); !slices.Equal(there, names) {
		s.Errorf("in %s there are the pods %q, want %q", namespace, there, names)
	}
}

func (s *stage) uids(namespace string) map[string]types.UID {
	s.Helper()
	list, err := s.client.CoreV1().Pods(namespace).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	uids := map[string]types.UID{}
	for _, pod := range list.Items {
		uids[pod.Name] = pod.UID
	}
	return uids
}

func (s *stage) eventually(what string, holds func() bool) {
	s.Helper()
	for limit := time.Now().Add(patience); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(limit) {
			s.Fatalf("never seen: %s", what)
		}
	}
}
