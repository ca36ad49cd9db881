package stranded

import (
	"bytes"
	"context"
	"encoding/json"

	"salve/internal/apierr"
	"salve/internal/redact"
	"salve/runbook"
)

// exporter is a run that keeps whole objects apart from its record.
type exporter interface {
	Export(ctx context.Context, name string, data []byte) error
	ReadExport(ctx context.Context, name string) ([]byte, error)
}

// exportOf keeps the whole pods of a run.
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

// masked is an object without what looks like a credential: each of its texts is masked by itself, before it is
// encoded.
func masked(object any) ([]byte, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var tree any
	lines := json.NewDecoder(bytes.NewReader(raw))
	lines.UseNumber()
	if err := lines.Decode(&tree); err != nil {
		return nil, err
	}
	return json.Marshal(maskedTree(tree))
}

func maskedTree(tree any) any {
	switch node := tree.(type) {
	case string:
		return string(redact.Redact([]byte(node)))
	case []any:
		for i := range node {
			node[i] = maskedTree(node[i])
		}
	case map[string]any:
		for key := range node {
			node[key] = maskedTree(node[key])
		}
	}
	return tree
}
