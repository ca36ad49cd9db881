package recreatepool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/report/replay"
	"salve/journal"
	"salve/runbook"
	"salve/runbooks/recreatepool"
)

// TestMeasureReplay replays a thousand incident files: those of a recovered pool, as a folder has them. Unlike the
// figures beside it, this one is of the machine's time.
func TestMeasureReplay(t *testing.T) {
	if !*measure {
		t.Skip("figures are printed by make bench-replay")
	}
	const records = 1000
	var raw []byte
	synctest.Test(t, func(t *testing.T) { raw = wedgedIncident(t) })
	folder := t.TempDir()
	items := make([]replay.Item, records)
	for i := range items {
		path := filepath.Join(folder, fmt.Sprintf("%d.incident", i))
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		items[i] = replay.Item{Name: path, Read: func() (*journal.History, error) {
			raw, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			return journal.ReadIncident(raw)
		}, Options: func(history *journal.History) replay.Options {
			return replay.Options{Make: func(inputs json.RawMessage) (runbook.Runbook, error) {
				var in recreatepool.Inputs
				if err := json.Unmarshal(inputs, &in); err != nil {
					return runbook.Runbook{}, err
				}
				return recreatepool.Replayed(in, history.Header.Target)
			}}
		}}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as salve replay --expect has it
	began := time.Now()
	suite := replay.RunSuite(items)
	took := time.Since(began)
	if suite.Failed() > 0 {
		t.Fatalf("%d of %d records did not replay as recorded", suite.Failed(), records)
	}
	fmt.Printf("BenchmarkReplay/%d-records 1 %.2f s %.2f of-5s %d bytes-each %d processors\n", records, took.Seconds(),
		took.Seconds()/5, len(raw), runtime.GOMAXPROCS(0))
}

// wedgedIncident is the incident file of a recovery.
func wedgedIncident(t *testing.T) []byte {
	s := newStage(t, load(t, "wedged"), journal.NewMemory())
	defer s.world.Close()
	result, err := s.run(context.Background())
	if err != nil || result.Outcome != runbook.Remediated {
		t.Fatalf("%s, %v", result.Outcome, err)
	}
	raw, err := journal.Incident(t.Context(), s.journal, result.Run)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
