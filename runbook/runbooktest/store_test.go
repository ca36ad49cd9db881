package runbooktest

import (
	"context"
	"errors"
	"testing"

	"salve/journal"
)

// TestEveryWriteOfTheJournalIsACut: a process can be killed before each and after it, and the dead write no more.
func TestEveryWriteOfTheJournalIsACut(t *testing.T) {
	ctx := t.Context()
	for name, row := range map[string]struct {
		write   func(*mortal, journal.Lease) error
		written func(*journal.Memory, journal.Lease) bool
	}{
		"record": {
			func(m *mortal, _ journal.Lease) error { return m.Create(ctx, "run-2") },
			func(m *journal.Memory, _ journal.Lease) bool {
				runs, err := m.Runs(ctx)
				return err == nil && len(runs) == 2
			},
		},
		"entry": {
			func(m *mortal, _ journal.Lease) error { return m.Append(ctx, "run-1", 1, []byte("{}\n")) },
			func(m *journal.Memory, _ journal.Lease) bool {
				_, err := m.ReadLine(ctx, "run-1", 1)
				return err == nil
			},
		},
		"export": {
			func(m *mortal, _ journal.Lease) error { return m.PutExport(ctx, "run-1", "whole", []byte("{}")) },
			func(m *journal.Memory, _ journal.Lease) bool {
				_, err := m.Export(ctx, "run-1", "whole")
				return err == nil
			},
		},
		"head": {
			func(_ *mortal, lease journal.Lease) error {
				return lease.SetOpenRun(ctx, journal.OpenRun{Run: "run-1"})
			},
			func(_ *journal.Memory, lease journal.Lease) bool { return lease.OpenRun() != nil },
		},
	} {
		for _, after := range []bool{false, true} {
			kept := journal.NewMemory()
			if err := kept.Create(ctx, "run-1"); err != nil {
				t.Fatal(err)
			}
			killed, kill := context.WithCancelCause(ctx)
			p := &Process{kill: kill, cut: cut{write, 1, after}, count: map[kind]int{}}
			m := &mortal{kept, p}
			lease, err := m.Lock(ctx, journal.Claim{Target: "valve/7"})
			if err != nil {
				t.Fatal(err)
			}
			if err := row.write(m, lease); !errors.Is(err, errKilled) || context.Cause(killed) == nil ||
				row.written(kept, lease) != after {
				t.Errorf("%s, after it %v: %v, written %v", name, after, err, row.written(kept, lease))
			}
			if err := row.write(m, lease); !errors.Is(err, errKilled) || row.written(kept, lease) != after {
				t.Errorf("%s, after it %v: the dead write: %v", name, after, err)
			}
			if lease.Check(ctx) == nil || lease.Release(ctx) == nil {
				t.Errorf("%s, after it %v: the dead hold or release a lease", name, after)
			}
		}
	}
}
