package resourcegroup_test

import (
	"testing"
	"testing/synctest"

	"salve/internal/azuresim"
	"salve/runbook"
)

// TestAGroupThatCannotBeSeenIsAQuestion when the answer to its creation was lost: it is not known whether it is there.
func TestAGroupThatCannotBeSeenIsAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		put := azuresim.Requests{Method: "PUT", Path: "*/resourcegroups/new", Times: 1}
		s.world.Lose(put, azuresim.DropAfter)
		s.world.After(put, func() {
			s.world.Answer(azuresim.Requests{Method: "GET", Path: "*/resourcegroups/new"}, 403,
				azuresim.ErrorBody("AuthorizationFailed", "no rights"))
		})
		s.ends(runbook.NeedsAttention, "step create-group: it can't be observed: ")
	})
}
