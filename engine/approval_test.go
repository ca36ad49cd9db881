package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

// box is where people leave what they say of plans.
type box struct {
	mu   sync.Mutex
	said []engine.Said
	// answer is asked at each look, with the question that is open.
	answer func(run string, question journal.Question) []engine.Said
	blind  error
	asked  []journal.Question
}

func (b *box) Requester(context.Context, journal.ApprovalRule) (journal.Identity, error) {
	return journal.Identity{User: "bob"}, nil
}

func (b *box) Statements(
	_ context.Context, _ journal.ApprovalRule, run string, question journal.Question,
) ([]engine.Said, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.asked) == 0 || b.asked[len(b.asked)-1].ID != question.ID {
		b.asked = append(b.asked, question)
	}
	if b.blind != nil {
		return nil, b.blind
	}
	if b.answer != nil {
		b.said = append(b.said, b.answer(run, question)...)
		b.answer = nil
	}
	return b.said, nil
}

// yes approves what is asked, for an hour, by alice.
func yes(run string, question journal.Question) journal.Statement {
	return journal.Statement{
		ID: "s-" + question.ID, Run: run, Digest: question.Digest, Question: question.ID, Expires: 3600,
		By: journal.Identity{User: "alice"}, From: "host laptop",
	}
}

// saying answers the first question with what is made of an approval.
func saying(change func(*engine.Said)) func(string, journal.Question) []engine.Said {
	return func(run string, question journal.Question) []engine.Said {
		said := engine.Said{Statement: yes(run, question)}
		change(&said)
		return []engine.Said{said}
	}
}

func asIs(*engine.Said) {}

// gated is a bench whose runs wait for an approval for an hour.
func gated(t testing.TB) (*bench, *box, engine.Options) {
	b, people := newBench(t), &box{}
	b.Approvals = people
	return b, people, engine.Options{Approval: &journal.ApprovalRule{WaitSeconds: 3600, FourEyes: true}}
}

func (b *bench) runWith(book runbook.Runbook, options engine.Options) engine.Result {
	b.t.Helper()
	result, err := b.Run(context.Background(), book, options)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

func (b *bench) expectNoChange(t testing.TB) {
	t.Helper()
	if len(b.calls) > 0 {
		t.Errorf("changes %v", b.calls)
	}
}

// TestRunWaitsUntilItsPlanIsApproved, asks its guards again, and records who approved.
func TestRunWaitsUntilItsPlanIsApproved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		asked := 0
		book := b.book()
		book.Budget = 10 * time.Minute // nobody's time to think is the run's
		began := time.Now()
		people.answer = nil
		go func() {
			time.Sleep(50 * time.Minute)
			b.expectNoChange(t)
			asked = len(b.asked)
			people.mu.Lock()
			defer people.mu.Unlock()
			people.answer = saying(asIs)
		}()
		expect(t, b.runWith(book, options), runbook.Remediated, "")
		if waited := time.Since(began); waited < 50*time.Minute || waited > 51*time.Minute {
			t.Errorf("it waited %s", waited)
		}
		if !slices.Contains(b.asked[asked:], "lamp-in-sight") {
			t.Error("no guard was asked after the approval")
		}
		b.expectStory("opened", "evaluated start", "planned", "asked", "evaluated start", "planned", "approved",
			"evaluated step hang-sign", "intent hang-sign", "outcome hang-sign done", "evaluated step switch-off",
			"intent switch-off", "outcome switch-off done", "evaluated checks", "closed remediated")
		approval := decode[journal.Approval](t, b.record("run-1").Entries[6].Data)
		if approval.By.User != "alice" || approval.From != "host laptop" || b.record("run-1").Entries[6].At.IsZero() {
			t.Errorf("recorded %+v", approval)
		}
	})
}

// TestStatementsThatAnswerNothing change nothing, and the run goes on waiting.
func TestStatementsThatAnswerNothing(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*engine.Said)
		want   string
	}{
		"forged":                  {func(s *engine.Said) { s.Refused = errors.New("signature invalid") }, "invalid"},
		"of another run":          {func(s *engine.Said) { s.Run = "run-7" }, `it is about run "run-7"`},
		"of another plan":         {func(s *engine.Said) { s.Digest = strings.Repeat("0", 64) }, "it is about plan"},
		"of an earlier question":  {func(s *engine.Said) { s.Question = "older" }, "it answers an earlier question"},
		"by who asked":            {func(s *engine.Said) { s.By.User = "bob" }, "four eyes: bob asked"},
		"widened":                 {func(s *engine.Said) { s.Limits = map[string]int{"watts": 61} }, "it widens watts"},
		"of an unknown limit":     {func(s *engine.Said) { s.Limits = map[string]int{"volts": 1} }, `it narrows "volts"`},
		"below nothing":           {func(s *engine.Said) { s.Limits = map[string]int{"watts": -1} }, "it narrows watts"},
		"good for no time at all": {func(s *engine.Said) { s.Expires = 0 }, "it does not say how long"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, people, options := gated(t)
				people.answer = saying(row.change)
				result := b.runWith(b.limited(60), options)
				expect(t, result, runbook.Failed, "was not approved within 1h0m0s")
				b.expectNoChange(t)
				if len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], row.want) {
					t.Errorf("warnings %q, want one with %q", result.Warnings, row.want)
				}
			})
		})
	}
}

// limited is the lamp's runbook with a limit.
func (b *bench) limited(watts int) runbook.Runbook {
	book := b.book()
	book.Inputs, book.Limits = map[string]int{"watts": watts}, map[string]int{"watts": watts}
	book.Lowered = func(limits map[string]int) (runbook.Runbook, error) {
		if limits["watts"] == 0 {
			return runbook.Runbook{}, errors.New("a lamp has watts")
		}
		return recordedBook(b.limited(limits["watts"])), nil
	}
	return book
}

func TestApprovalLowersLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		people.answer = saying(func(s *engine.Said) { s.Limits = map[string]int{"watts": 10} })
		result := b.runWith(b.limited(60), options)
		expect(t, result, runbook.Remediated, "")
		if inputs := string(b.record("run-1").Header.Inputs); inputs != `{"watts":10}` ||
			string(result.Plan.Inputs) != inputs {
			t.Errorf("the run went on with %s, planned %s", inputs, result.Plan.Inputs)
		}
	})
}

// TestApprovalThatNarrowsToWhatIsInvalidChangesNothing.
func TestApprovalThatNarrowsToWhatIsInvalidChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		people.answer = saying(func(s *engine.Said) { s.Limits = map[string]int{"watts": 0} })
		expect(t, b.runWith(b.limited(60), options), runbook.Failed, "a lamp has watts")
		b.expectNoChange(t)
	})
}

func TestDenialEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		people.answer = func(run string, question journal.Question) []engine.Said {
			no := yes(run, question)
			no.ID, no.Denied, no.Reason = "no", true, "not during the sale"
			return []engine.Said{{Statement: yes(run, question)}, {Statement: no}} // a denial counts first
		}
		expect(t, b.runWith(b.book(), options), runbook.Failed, "denied by alice from host laptop: not during the sale")
		b.expectNoChange(t)
		b.expectStory("opened", "evaluated start", "planned", "asked", "denied", "closed failed")
	})
}

// TestReplanVoidsTheApproval: the run asks anew, and says what has changed.
func TestReplanVoidsTheApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		seen := "1"
		b.sees = func() runbook.Finding {
			return runbook.Yes("there it is").WithEvidence(runbook.Evidence{Source: "eye", Identity: seen})
		}
		people.answer = saying(func(*engine.Said) { seen = "2" })
		result := b.runWith(b.book(), options)
		expect(t, result, runbook.Failed, "was not approved")
		b.expectNoChange(t)
		if len(people.asked) != 2 || people.asked[0].Digest == people.asked[1].Digest {
			t.Errorf("asked %+v", people.asked)
		}
		want := "evidence lamp-in-sight eye.identity: was 1, now 2"
		if !strings.Contains(strings.Join(result.Warnings, "\n"), want) {
			t.Errorf("warnings %q, want %q", result.Warnings, want)
		}
	})
}

// TestGuardThatFailsAfterTheApprovalEndsTheRun.
func TestGuardThatFailsAfterTheApprovalEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		people.answer = saying(func(*engine.Said) { b.sees = func() runbook.Finding { return runbook.No("it is gone") } })
		expect(t, b.runWith(b.book(), options), runbook.NothingToDo, "it is gone")
		b.expectNoChange(t)
	})
}

// TestApprovalMayBeAsOldAsTheLastLook: while nothing could be seen, nobody knows when it was given. No clock but this
// process's own is asked.
func TestApprovalMayBeAsOldAsTheLastLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, people, options := gated(t)
		go func() {
			time.Sleep(10 * time.Second)
			people.mu.Lock()
			people.blind = apierr.New(apierr.Denied, "forbidden")
			people.answer = saying(func(s *engine.Said) { s.Expires = 300 })
			people.mu.Unlock()
			time.Sleep(301 * time.Second)
			people.mu.Lock()
			people.blind = nil
			people.mu.Unlock()
		}()
		result := b.runWith(b.book(), options)
		expect(t, result, runbook.Failed, "was not approved")
		b.expectNoChange(t)
		if !strings.Contains(strings.Join(result.Warnings, "\n"), "it was good for 5m0s, and may be older than that") {
			t.Errorf("warnings %q", result.Warnings)
		}
	})
}

// TestExpiredApprovalBeginsNothing: neither the first change nor the point of no return.
func TestExpiredApprovalBeginsNothing(t *testing.T) {
	for name, row := range map[string]struct {
		slow func(b *bench, book *runbook.Runbook)
		want []string
	}{
		"before the first change": {func(b *bench, book *runbook.Runbook) {
			book.Steps[0].Inputs = func(runbook.Run) (any, error) {
				if b.record("run-1").Used(b.lastStatement()) {
					time.Sleep(2 * time.Minute)
				}
				return nil, nil
			}
		}, nil},
		"before the point of no return": {func(_ *bench, book *runbook.Runbook) {
			book.Steps[0].Await = func(context.Context, runbook.Run) error { time.Sleep(2 * time.Minute); return nil }
		}, []string{"hang-sign", "take-sign-in"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, people, options := gated(t)
				people.answer = saying(func(s *engine.Said) { s.Expires = 60 })
				book := b.book()
				row.slow(b, &book)
				expect(t, b.runWith(book, options), runbook.Failed, "approval expired: that of alice was good for 1m0s")
				if !slices.Equal(b.calls, row.want) {
					t.Errorf("changes %v, want %v", b.calls, row.want)
				}
			})
		})
	}
}

// lastStatement is that of yes to the newest question; empty when none was asked.
func (b *bench) lastStatement() string {
	asked := b.Approvals.(*box).asked
	if len(asked) == 0 {
		return ""
	}
	return yes("", asked[len(asked)-1]).ID
}
