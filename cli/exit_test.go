package cli

import (
	"context"
	"fmt"
	"testing"

	"salve/internal/apierr"
	"salve/journal"
)

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
		{apierr.New(apierr.Missing, "reading namespace salve-system"), "not found: reading namespace salve-system"},
		{fmt.Errorf("asking ARM: %w", context.DeadlineExceeded), "timed out: asking ARM: context deadline exceeded"},
		{apierr.New(apierr.Throttled, "asking ARM"), "throttled: asking ARM. hint: run the same command again in a minute"},
		{&journal.LostError{Target: "t", Epoch: 3}, "lease lost: t (ours was epoch 3)"},
		{fmt.Errorf("two\n  lines"), "two lines"},
	} {
		if got := named(test.err); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
