package stranded

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/runbook"
)

// TestJudgedPods: some stranded ones are left alone by what else is known of them, and foreign ones are marked.
func TestJudgedPods(t *testing.T) {
	began := time.Now()
	pod := func(name string, age time.Duration) Misplaced {
		return Misplaced{Pod: Pod{Namespace: "away", Name: name, Created: began.Add(-age)}, Why: "as it was"}
	}
	r := &Reading{
		Stranded: []Misplaced{pod("ours", time.Hour), pod("spared", 2*time.Hour), pod("theirs", time.Second)},
		Left:     []Misplaced{pod("runs", 3*time.Hour), pod("runs-for-others", 0)},
	}
	r.Judge(func(pod Pod) Judgement {
		switch pod.Name {
		case "spared":
			return Judgement{Leave: "G4"}
		case "theirs":
			return Judgement{Leave: "G3", Foreign: true}
		case "runs-for-others":
			return Judgement{Leave: "G3", Foreign: true}
		}
		return Judgement{}
	})
	names := func(pods []Misplaced) (all []string) {
		for _, pod := range pods {
			all = append(all, pod.Name+": "+pod.Why)
		}
		return all
	}
	if got := names(r.Stranded); !slices.Equal(got, []string{"ours: as it was"}) {
		t.Errorf("stranded: %q", got)
	}
	want := []string{"runs: as it was", "runs-for-others: as it was", "spared: G4", "theirs: G3"}
	if got := names(r.Left); !slices.Equal(got, want) {
		t.Errorf("left: %q", got)
	}
	if youngest, found := r.Youngest(); !found || youngest.Name != "ours" {
		t.Errorf("the youngest is %v", youngest)
	}
}

// TestStrictDeletionEnds for good with the first pod that is not as it was read, and asks nothing more about it.
func TestStrictDeletionEnds(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		var pods []Pod
		for _, name := range []string{"a", "b", "c"} {
			pods = append(pods, podOf(a.pod("away", name)))
		}
		a.pods[1].ResourceVersion = "2"
		how := Deletion{Batch: 1, Strict: true, Still: func(Pod) bool { t.Error("it was asked about"); return true }}
		err := s.DeletePods(permitted(t.Context()), pods, how)
		var ended *runbook.EndedError
		if !errors.As(err, &ended) || apierr.ClassOf(err) != apierr.Terminal ||
			!strings.Contains(err.Error(), "1 of 3 pods were deleted") || a.requests(http.MethodDelete) != 2 {
			t.Errorf("after %d requests: %v", a.requests(http.MethodDelete), err)
		}
	})
}
