package registerproviders_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/azuresim"
	"salve/journal"
	"salve/runbook"
	"salve/runbooks/registerproviders"
)

// dying is the journal of a process that dies right after it has written something down.
type dying struct {
	journal.Store
	after string
	dead  bool
}

func (d *dying) Append(ctx context.Context, run string, seq int, line []byte) error {
	if d.dead {
		return errors.New("the process died")
	}
	d.dead = strings.Contains(string(line), d.after)
	return d.Store.Append(ctx, run, seq, line)
}

// TestProvidersThatWereToldAreNotToldAgain by whoever goes on after a crash: it is in the record.
func TestProvidersThatWereToldAreNotToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		book, err := registerproviders.New(s.acts(), s.in, s.order)
		if err != nil {
			t.Fatal(err)
		}
		killed := engine.Engine{Journal: &dying{Store: s.journal, after: "told-providers"}, Clock: clock.RealClock{}}
		if result, err := killed.Run(t.Context(), book, engine.Options{}); err == nil && !result.Unrecorded {
			t.Fatalf("ended %+v", result)
		}
		all := []string{"Microsoft.Cdn", "Microsoft.Compute/features/EncryptionAtHost", "Microsoft.Compute"}
		s.wasAsked(all...)
		s.ends(runbook.Remediated, "")
		s.wasAsked(all...)
	})
}

// TestFeatureThatIsWaitingForItsApprovalIsNotTold: its provider is told of it when it is there to be known.
func TestFeatureThatIsWaitingForItsApprovalIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		s.order.Providers = []registerproviders.Provider{{Namespace: "Microsoft.Network", Wait: true,
			Features: []registerproviders.Feature{{Name: "Slow"}, {Name: "New", Wait: true}}}}
		s.ends(runbook.Remediated, "")
		s.wasAsked("Microsoft.Network/features/Slow", "Microsoft.Network/features/New", "Microsoft.Network")
	})
}

// TestRegistrationThatCannotBeSeenIsAQuestion when its answer was lost, and is not asked for twice.
func TestRegistrationThatCannotBeSeenIsAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		post := azuresim.Requests{Method: "POST", Path: "*/providers/Microsoft.Cdn/register", Times: 1}
		s.world.Lose(post, azuresim.DropAfter)
		s.world.After(post, func() {
			s.world.Answer(azuresim.Requests{Method: "GET", Path: "*/providers/Microsoft.Cdn"}, 403,
				azuresim.ErrorBody("AuthorizationFailed", "no rights"))
		})
		s.ends(runbook.NeedsAttention, "it can't be observed: ")
		s.wasAsked("Microsoft.Cdn")
	})
}
