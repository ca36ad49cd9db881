package stranded

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// TestWhatForeignPodsWaitForNeedNotBeSeen; what others do has to be.
func TestWhatForeignPodsWaitForNeedNotBeSeen(t *testing.T) {
	for _, foreign := range []bool{true, false} {
		onAPI(t, func(t *testing.T, a *api, s *Search) {
			a.stranded("a")
			a.deny("/away/secrets/a")
			seen, err := s.ReadState(t.Context())
			if err != nil || seen.Blind == nil {
				t.Fatalf("%v, %v", seen, err)
			}
			seen.Judge(func(Pod) Judgement { return Judgement{Foreign: foreign} })
			if (seen.Blind == nil) != foreign {
				t.Errorf("foreign %v: %v", foreign, seen.Blind)
			}
		})
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

// TestReleaseTakesOneFinalizer, from pods that nothing else holds, as they were read, and with a permit.
func TestReleaseTakesOneFinalizer(t *testing.T) {
	const ours = "example.com/ours"
	held := Pod{Namespace: "away", Name: "a", UID: "1", Deleting: true, Finalizers: []string{ours}}
	both, live := held, held
	both.Finalizers, live.Deleting = []string{ours, "example.com/others"}, false
	for rule, row := range map[string]struct {
		pod    Pod
		answer *http.Response
		class  apierr.Class
		asked  int
	}{
		"held": {held, said(http.StatusOK, nil), "", 1},
		"gone": {held, refusal(http.StatusNotFound, metav1.StatusReasonNotFound), "", 1},
		"held by others by now": {
			held, refusal(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid), apierr.Terminal, 1,
		},
		"denied":                {held, denied(), apierr.Denied, 1},
		"held by others too":    {both, nil, apierr.Terminal, 0},
		"nobody has deleted it": {live, nil, apierr.Terminal, 0},
	} {
		t.Run(rule, func(t *testing.T) {
			onAPI(t, func(t *testing.T, a *api, s *Search) {
				a.answer = func(request *http.Request) *http.Response {
					raw, err := io.ReadAll(request.Body)
					want := `[{"op":"test","path":"/metadata/uid","value":"1"},` +
						`{"op":"test","path":"/metadata/finalizers","value":["example.com/ours"]},` +
						`{"op":"remove","path":"/metadata/finalizers"}]`
					if err != nil || string(raw) != want {
						t.Errorf("asked with %s: %v", raw, err)
					}
					return row.answer
				}
				err := s.Release(permitted(t.Context()), []Pod{row.pod}, ours)
				if (err != nil) != (row.class != "") || err != nil && apierr.ClassOf(err) != row.class {
					t.Errorf("%v", err)
				}
				if asked := a.requests(http.MethodPatch); asked != row.asked {
					t.Errorf("%d requests", asked)
				}
			})
		})
	}
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		if err := s.Release(t.Context(), []Pod{held}, ours); err == nil || a.requests(http.MethodPatch) != 0 {
			t.Errorf("without a permit: %v", err)
		}
	})
}
