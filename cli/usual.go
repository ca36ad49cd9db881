package cli

import (
	"context"
	"maps"
	"time"

	"salve/internal/backoff"
	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
)

// looking is how long earlier runs are looked at for how long steps usually take.
const looking = 5 * time.Second

// estimate shows how long steps usually take, as soon as the journal has said it, where that is drawn. The run does not
// wait for it. What the journal knows wins over what is known otherwise.
func (w *watch) estimate(
	ctx context.Context, kept journal.Backend, known map[string]time.Duration, match func(journal.Header) bool,
) {
	w.expect(known)
	if w.app.progress() != drawn {
		return
	}
	quiet, cancel := context.WithTimeout(backoff.WithNotice(ctx, func(backoff.Notice) {}), looking)
	go func() {
		defer cancel()
		usual := maps.Clone(known)
		if usual == nil {
			usual = map[string]time.Duration{}
		}
		maps.Copy(usual, report.Usual(quiet, kept, match))
		w.expect(usual)
	}()
}

// sameRunbook matches runs of a runbook, on whatever target.
func sameRunbook(name string) func(journal.Header) bool {
	return func(header journal.Header) bool { return header.Runbook == name }
}

// sameTarget matches runs of a runbook on one target: what a pipeline's steps are called says nothing of another
// pipeline's.
func sameTarget(name string, target runbook.Target) func(journal.Header) bool {
	return func(header journal.Header) bool { return header.Runbook == name && header.Target.ID == target.ID }
}
