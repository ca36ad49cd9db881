package cleanup

import (
	"context"
	"fmt"

	"salve/internal/apierr"
	"salve/runbook"
)

const (
	// largestExport is what a run takes as one export.
	largestExport = 32 << 20
	// mostExported is the size up to which a bundle is kept in a run's exports. In a cluster they are Secrets, and
	// each step reads them all.
	mostExported = 2 * largestExport
)

// exportName is the one under which a run keeps a piece of its bundle.
func exportName(piece int) string { return fmt.Sprintf("bundle-%d", piece) }

// export keeps a bundle in the run's exports, never in its record: it holds whole objects, and what is secret in them.
func export(ctx context.Context, run runbook.Run, content []byte) error {
	for piece := 0; piece*largestExport < len(content); piece++ {
		some := content[piece*largestExport : min((piece+1)*largestExport, len(content))]
		if err := run.Export(ctx, exportName(piece), some); err != nil {
			return err
		}
	}
	return nil
}

// readExport reads the bundle of so many bytes that export kept.
func readExport(ctx context.Context, run runbook.Run, size int64) ([]byte, error) {
	var content []byte
	for piece := 0; int64(piece)*largestExport < size; piece++ {
		some, err := run.ReadExport(ctx, exportName(piece))
		if err != nil {
			return nil, err
		}
		content = append(content, some...)
	}
	if int64(len(content)) != size {
		return nil, apierr.New(apierr.Terminal, "conflict: the bundle in the run's exports has %d bytes, %d were written",
			len(content), size)
	}
	return content, nil
}
