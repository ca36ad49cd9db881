package journal

import (
	"context"
	"fmt"
	"slices"
)

// NewestFirst reads records, the newest first, as long as visit wants more. A record that
// can't be read is reported through broken and skipped.
func NewestFirst(
	ctx context.Context, backend Backend, visit func(*Record) (more bool), broken func(run string, err error),
) error {
	runs, err := backend.Runs(ctx)
	if err != nil {
		return fmt.Errorf("listing the journal: %w", err)
	}
	for _, run := range slices.Backward(runs) {
		record, err := Load(ctx, backend, run)
		if err != nil {
			broken(run, err)
			continue
		}
		if len(record.Entries) > 0 && !visit(record) {
			return nil
		}
	}
	return nil
}
