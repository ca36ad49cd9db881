package cleanup

import (
	"context"

	"salve/internal/apierr"
	"salve/runbook"
)

// exporter is a run that keeps whole objects apart from its record.
type exporter interface {
	Export(ctx context.Context, name string, data []byte) error
	ReadExport(ctx context.Context, name string) ([]byte, error)
}

// exportName is the one under which a run keeps its bundle.
const exportName = "bundle"

// exportOf keeps the bundles of a run that has no file for them.
func exportOf(run runbook.Run) exporter {
	if kept, can := run.(exporter); can {
		return kept
	}
	return noted{run}
}

// noted keeps exports as notes, for runs that keep nothing apart from their record.
type noted struct{ run runbook.Run }

// Export notes data.
func (n noted) Export(ctx context.Context, name string, data []byte) error {
	return n.run.Note(ctx, "export-"+name, data)
}

// ReadExport reads what Export noted.
func (n noted) ReadExport(ctx context.Context, name string) (data []byte, _ error) {
	found, err := n.run.ReadBack(ctx, "export-"+name, &data)
	if err == nil && !found {
		err = apierr.New(apierr.Missing, "not found: export %q of run %s", name, n.run.ID())
	}
	return data, err
}
