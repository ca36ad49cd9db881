package cli

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"salve/internal/apierr"
	"salve/journal"
)

// TestErrorAfterARunTakesNothingBackOfItsExitCode: what is known of the runs before it stays known.
func TestErrorAfterARunTakesNothingBackOfItsExitCode(t *testing.T) {
	held := &journal.HeldError{Target: "t"}
	for name, test := range map[string]struct {
		exit int
		err  error
		want int
	}{
		"one was remediated, the next is held":    {exitDecided, held, exitFailed},
		"one is undecided, the next is held":      {exitUndecided, held, exitUndecided},
		"one needs attention, the next is held":   {exitNeedsAttention, held, exitNeedsAttention},
		"one needs attention, the next is none":   {exitNeedsAttention, &journal.MissingError{Run: "r"}, exitNeedsAttention},
		"one was remediated, the next is invalid": {exitDecided, usage("invalid"), exitFailed},
	} {
		var log bytes.Buffer
		a := &app{stdout: &log, stderr: &log, began: true, understood: true, exit: test.exit}
		if got := a.fail(test.err); got != test.want {
			t.Errorf("%s: exit code %d, want %d: %s", name, got, test.want, log.String())
		}
	}
}

// TestErrorsHoldTheTermThatPeopleSearchFor, once, and what to do about it.
func TestErrorsHoldTheTermThatPeopleSearchFor(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{apierr.New(apierr.Denied, "listing the journal"),
			"forbidden: listing the journal. " +
				"hint: deploy/azure-role.json and deploy/cluster-role.yaml list the rights that Salve needs"},
		{apierr.New(apierr.Denied, "secrets is forbidden. hint: kubectl apply -f deploy/cluster-role.yaml"),
			"secrets is forbidden. hint: kubectl apply -f deploy/cluster-role.yaml"},
		{apierr.New(apierr.Denied, "unauthorized: Bad credentials"), "unauthorized: Bad credentials"},
		{apierr.New(apierr.Missing, "reading namespace salve-system"), "not found: reading namespace salve-system"},
		{fmt.Errorf("asking ARM: %w", context.DeadlineExceeded), "timed out: asking ARM: context deadline exceeded"},
		{apierr.New(apierr.Throttled, "asking ARM"), "throttled: asking ARM. hint: run the same command again in a minute"},
		{&journal.LostError{Target: "t", Epoch: 3}, "lease lost: t (ours was epoch 3)"},
		{fmt.Errorf("two\n  lines"), "two lines"},
	} {
		if got := new(app).named(test.err); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
