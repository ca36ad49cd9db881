package watch

import (
	"context"
	"testing"
	"time"

	"salve/internal/clock"
	"salve/internal/prow/finding"
)

// endless is a poller that ends when it is cut off, with what it then makes of what it could not ask.
type endless struct{ cut context.CancelFunc }

func (e endless) Poll(ctx context.Context) (finding.List, []finding.Verdict) {
	e.cut()
	<-ctx.Done()
	return finding.List{{Rule: "B3", Severity: finding.Alert, Message: "not asked"}},
		[]finding.Verdict{{Rule: "B3", Severity: finding.OK}}
}

// TestAPollThatIsCutOffHasSeenNothing, whatever it says.
func TestAPollThatIsCutOffHasSeenNothing(t *testing.T) {
	ctx, cut := context.WithCancel(t.Context())
	told := 0
	p := &polls{poller: endless{cut}, every: time.Minute, clock: clock.Real{}, changed: func() { told++ }}
	if err := p.run(ctx); err != nil {
		t.Error(err)
	}
	if last := p.last(); len(last.findings) > 0 || told > 0 || last.verdicts[0].Reason != "GitHub was not asked yet" {
		t.Errorf("it has %+v, and told so %d times", last, told)
	}
}
