package repairprotection_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"salve/internal/prow/githubsim"
	"salve/journal"
	"salve/runbook"
	"salve/runbooks/repairprotection"
)

func TestFieldsThatAreNotKnownAreNotWiped(t *testing.T) {
	in(t, func(w *world) {
		w.protection("kube/widgets", func(branch *githubsim.Branch) {
			branch.Protection.Extra = map[string]any{"robots": map[string]any{"enabled": true}}
		})
		w.ends(w.run(), runbook.NeedsAttention, "as-planned", "robots")
		w.unchanged()
	})
}

func TestWhatSomebodyChangedSinceThePlanIsNotOverwritten(t *testing.T) {
	in(t, func(w *world) {
		found := w.discovered()
		w.protection("kube/widgets", func(branch *githubsim.Branch) { branch.Protection.RequiredLinearHistory = true })
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.NeedsAttention, "changed since the plan")
		w.unchanged()
	})
}

// TestWhatSomebodyMendsMeanwhileIsDone: it is right, whoever made it so.
func TestWhatSomebodyMendsMeanwhileIsDone(t *testing.T) {
	in(t, func(w *world) {
		found := w.discovered()
		w.protection("kube/widgets", func(branch *githubsim.Branch) { branch.Protection = githubsim.Require("cla", "unit") })
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.NothingToDo, "protection-differs")
		w.unchanged()
	})
}

func TestABranchThatIsGoneMeanwhileIsRight(t *testing.T) {
	in(t, func(w *world) {
		w.protection("kube/gadgets", func(branch *githubsim.Branch) { branch.Protection = nil })
		found := w.discovered()
		w.sim.Update(func(github *githubsim.World) {
			github.Repo("kube/gadgets").Branch("other")
			delete(github.Repo("kube/gadgets").Branches, "main")
		})
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.Remediated)
		w.requires("kube/widgets", "cla", "unit")
	})
}

func TestPreviousProtectionIsKeptBeforeItIsReplaced(t *testing.T) {
	in(t, func(w *world) {
		var kept []string
		result := w.disturbed(w.atWrite("widgets", func() {
			names, err := w.journal.Runs(w.Context())
			if err != nil || len(names) != 1 {
				t.Fatalf("runs %v (%v)", names, err)
			}
			record, err := journal.Load(w.Context(), w.journal, names[0])
			if err != nil {
				t.Fatal(err)
			}
			raw, err := record.ReadExport(w.Context(), "previous-0000")
			if err != nil {
				t.Fatal(err)
			}
			var previous repairprotection.Previous
			if err := json.Unmarshal(raw, &previous); err != nil {
				t.Fatal(err)
			}
			kept = append(kept, previous.Branch)
			if !previous.Protected || !strings.Contains(string(previous.Object), `"docs"`) || previous.Written == nil {
				t.Errorf("kept is %s", raw)
			}
		}))
		w.ends(result, runbook.Remediated)
		if len(kept) != 1 {
			t.Errorf("kept %v", kept)
		}
	})
}

// TestWhatWasKeptFirstStays: the write was made, the request for signatures was lost, and both are looked at again.
func TestWhatWasKeptFirstStays(t *testing.T) {
	in(t, func(w *world) {
		w.write("config.yaml", strings.ReplaceAll(today, "enforce_admins: true", "require_signed_commits: true"))
		w.protection("kube/gadgets", func(branch *githubsim.Branch) { branch.Protection = githubsim.Require("old") })
		w.sim.Inject(githubsim.Fault{Method: http.MethodPost, Cut: githubsim.CutBefore})
		result := w.run()
		w.ends(result, runbook.Remediated)
		record, err := journal.Load(w.Context(), w.journal, result.Run)
		if err != nil {
			w.Fatal(err)
		}
		raw, err := record.ReadExport(w.Context(), repairprotection.ExportName(0))
		if err != nil || !strings.Contains(string(raw), `"old"`) {
			w.Errorf("kept is %s (%v)", raw, err)
		}
		if n := len(w.changed()); n != 4 { // two writes, and signatures twice
			w.Errorf("GitHub was asked for %v", w.changed())
		}
	})
}

// TestALostAnswerIsLookedAtAndNeverRepeated: the write happened, and its answer never came.
func TestALostAnswerIsLookedAtAndNeverRepeated(t *testing.T) {
	in(t, func(w *world) {
		w.sim.Inject(githubsim.Fault{Method: http.MethodPut, Cut: githubsim.CutAfter})
		w.ends(w.run(), runbook.Remediated)
		w.requires("kube/widgets", "cla", "unit")
		if changed := w.changed(); len(changed) != 1 {
			t.Errorf("GitHub was asked for %v", changed)
		}
	})
}

func TestAnErrorOfGitHubIsNotBelievedBlindly(t *testing.T) {
	for what, fault := range map[string]githubsim.Fault{
		"502 in the place of the write": {Method: http.MethodPut, Status: http.StatusBadGateway, Message: "bad gateway"},
		"cut before the write":          {Method: http.MethodPut, Cut: githubsim.CutBefore},
		"a secondary limit":             {Method: http.MethodPut, Secondary: true, RetryAfter: time.Minute},
		"a proxy's page":                {Method: http.MethodPut, Plain: true},
		"half an answer":                {Method: http.MethodPut, Cut: githubsim.CutBody},
	} {
		t.Run(what, func(t *testing.T) {
			in(t, func(w *world) {
				w.sim.Inject(fault)
				w.ends(w.run(), runbook.Remediated)
				w.requires("kube/widgets", "cla", "unit")
			})
		})
	}
}

func TestWithoutRightsNothingIsKnown(t *testing.T) {
	in(t, func(w *world) {
		w.sim.Update(func(github *githubsim.World) {
			github.Repo("kube/widgets").Collaborators = map[string]string{"root": "write"}
		})
		_, finding := repairprotection.Discover(w.Context(), w.of(nil), w.in)
		if finding.Answer != runbook.AnswerUnknown || !strings.Contains(finding.Reason, "forbidden") {
			t.Errorf("%s: %s", finding.Answer, finding.Reason)
		}
	})
}

func TestSignaturesHaveAWriteOfTheirOwn(t *testing.T) {
	in(t, func(w *world) {
		w.write("config.yaml", strings.ReplaceAll(today, "enforce_admins: true", "require_signed_commits: true"))
		w.ends(w.run(), runbook.Remediated)
		w.protection("kube/gadgets", func(branch *githubsim.Branch) {
			if !branch.Protection.RequiredSignatures || !branch.Protection.EnforceAdmins {
				t.Errorf("it is %+v", branch.Protection)
			}
		})
		if said := strings.Join(w.changed(), " "); strings.Count(said, "gadgets") != 1 ||
			!strings.Contains(said, "POST /api/v3/repos/kube/gadgets/branches/main/protection/required_signatures") {
			t.Errorf("GitHub was asked for %v", said)
		}
	})
}

// TestWhatIsChangedWhileItIsLookedAtIsNotOverwritten: between the guards and the write somebody requires a review.
func TestWhatIsChangedWhileItIsLookedAtIsNotOverwritten(t *testing.T) {
	in(t, func(w *world) {
		book := w.book()
		apply := book.Steps[1].Apply
		book.Steps[1].Apply = func(ctx context.Context, run runbook.Run) error {
			w.protection("kube/widgets", func(branch *githubsim.Branch) {
				branch.Protection.RequiredPullRequestReviews = &githubsim.Reviews{Approvals: 2}
			})
			return apply(ctx, run)
		}
		w.ends(w.runBook(book), runbook.NeedsAttention, "changed since the plan")
		w.unchanged()
	})
}

// TestWhatWasWrittenIsReadBackUntilItIsSeen: what was written comes to be seen late, and is waited for.
func TestWhatWasWrittenIsReadBackUntilItIsSeen(t *testing.T) {
	in(t, func(w *world) {
		stale, tag := 2, ""
		found := w.discovered()
		var before []byte
		book := w.made(w.of(func(next http.RoundTripper) http.RoundTripper {
			return trip(func(request *http.Request) (*http.Response, error) {
				response, err := next.RoundTrip(request)
				if err != nil || request.Method != http.MethodGet || !strings.HasSuffix(request.URL.Path, "/protection") {
					return response, err
				}
				switch {
				case before == nil:
					before, err = io.ReadAll(response.Body)
					response.Body, tag = io.NopCloser(bytes.NewReader(before)), response.Header.Get("ETag")
				case len(w.changed()) > 0 && stale > 0 && response.StatusCode == http.StatusOK:
					stale--
					response.Body = io.NopCloser(bytes.NewReader(before))
					response.Header.Set("Content-Length", fmt.Sprint(len(before)))
					response.Header.Set("ETag", tag)
					response.ContentLength = int64(len(before))
				}
				return response, err
			})
		}), found)
		w.ends(w.runBook(book), runbook.Remediated)
		if changed := w.changed(); len(changed) != 1 || stale != 0 {
			t.Errorf("GitHub was asked for %v; %d late answers are left", changed, stale)
		}
	})
}
