package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"salve/runbook"
)

// killed is a disk after a process that had appended two entries behind the header
// died: what it wrote is there, synced or not.
func killed(t *testing.T) *platter {
	t.Helper()
	ctx, p := context.Background(), newPlatter()
	lease, err := on(p).Lock(ctx, Claim{Target: "lamp/1", Holder: Holder{Run: "run-1"}})
	if err != nil {
		t.Fatal(err)
	}
	record, err := Create(ctx, on(p), lease, noon,
		Header{Run: "run-1", Runbook: "mend", Target: runbook.Target{ID: "lamp/1"}})
	if err != nil {
		t.Fatal(err)
	}
	for attempt := range 2 {
		if err := record.Append(ctx, Intended, "a", Intent{Attempt: attempt + 1}); err != nil {
			t.Fatal(err)
		}
	}
	p.locks = map[string]bool{}
	return p
}

func headOn(p *platter) *node { return p.names[headPath(leasePath("lamp/1"))] }

// known is what the lease says of its run.
func known(t *testing.T, p *platter) *OpenRun {
	t.Helper()
	peeked, err := on(p).Peek(context.Background(), "lamp/1")
	if err != nil || peeked.Open == nil || peeked.Open.Run != "run-1" {
		t.Fatalf("%+v, %v", peeked, err)
	}
	return peeked.Open
}

// TestHeadOutlivesTheProcess: a record that is cut after its process was killed is
// broken, though the newest head was never synced.
func TestHeadOutlivesTheProcess(t *testing.T) {
	p := killed(t)
	if seq := known(t, p).Seq; seq != 3 {
		t.Fatalf("the head is at %d", seq)
	}
	record := p.names["runs/run-1/journal.jsonl"]
	first := 0
	for record.data[first] != '\n' {
		first++
	}
	record.data = record.data[:first+1]
	var broken *BrokenError
	if _, err := FindOpen(context.Background(), on(p), "lamp/1", known(t, p)); !errors.As(err, &broken) {
		t.Errorf("the record was cut, and found: %v", err)
	}
}

// TestHeadThatWasTakenAway: while the machine runs the newest head is there, or
// somebody took it away. The lease then vouches for no record of the run, whatever is
// left of it; an operator can still give the run up. After the machine restarted the
// durable head counts, which is older and as true.
func TestHeadThatWasTakenAway(t *testing.T) {
	for name, spoil := range map[string]func(*platter){
		"torn": func(p *platter) { headOn(p).data[90] ^= 1 },
		"edited": func(p *platter) {
			headOn(p).data = bytes.Replace(headOn(p).data, []byte(`"seq":3`), []byte(`"seq":9`), 1)
		},
		"cut":              func(p *platter) { headOn(p).data = headOn(p).data[:100] },
		"empty":            func(p *platter) { headOn(p).data = nil },
		"gone":             func(p *platter) { delete(p.names, headPath(leasePath("lamp/1"))) },
		"of another run":   func(p *platter) { forge(p, OpenRun{Run: "run-2", Epoch: 9, Seq: 9}) },
		"older":            func(p *platter) { forge(p, OpenRun{Run: "run-1", Epoch: 1, Seq: 0, Sum: "older"}) },
		"of an old holder": func(p *platter) { forge(p, OpenRun{Run: "run-1", Epoch: 0, Seq: 9, Sum: "older"}) },
		"too long":         func(p *platter) { headOn(p).data = append(headOn(p).data, make([]byte, maxLease)...) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, p := context.Background(), killed(t)
			spoil(p)
			lease, err := on(p).Lock(ctx, Claim{Target: "lamp/1"})
			if err != nil {
				t.Fatal(err)
			}
			record, err := Load(ctx, on(p), "run-1")
			if err != nil {
				t.Fatal(err)
			}
			var unvouched *HeadError
			if err := record.Reopen(lease, noon); !errors.As(err, &unvouched) {
				t.Errorf("the record is believed: %v", err)
			}
			if err := errors.Join(Forget(ctx, on(p), lease, "run-1"), lease.Release(ctx)); err != nil {
				t.Error(err)
			}
		})
		t.Run(name+", and the machine restarted", func(t *testing.T) {
			p := killed(t)
			spoil(p)
			p.started = "once more"
			open := known(t, p)
			if open.Seq != 1 || open.Sum == "older" {
				t.Errorf("the head is %+v", open)
			}
			if found, err := FindOpen(context.Background(), on(p), "lamp/1", open); err != nil || found.Record == nil {
				t.Errorf("the run is not found: %v", err)
			}
		})
	}
}

// TestHeadsAreVouchedForAgainAfterARestart: the first one that is written then is
// durable.
func TestHeadsAreVouchedForAgainAfterARestart(t *testing.T) {
	ctx, p := context.Background(), killed(t)
	p.started = "once more"
	var durable leaseState
	raw := p.names[leasePath("lamp/1")].synced
	if err := json.Unmarshal(raw, &durable); err != nil || durable.Open.Boot != boot() || durable.Open.Seq != 1 {
		t.Fatalf("%s, %v", raw, err)
	}
	lease, err := on(p).Lock(ctx, Claim{Target: "lamp/1"})
	if err != nil {
		t.Fatal(err)
	}
	head := OpenRun{Target: "lamp/1", Run: "run-1", Epoch: lease.Epoch(), Seq: 4, Boot: "once more"}
	if err := lease.SetOpenRun(ctx, head); err != nil {
		t.Fatal(err)
	}
	raw = p.names[leasePath("lamp/1")].synced
	if err := json.Unmarshal(raw, &durable); err != nil || *durable.Open != head {
		t.Errorf("%s, %v", raw, err)
	}
}

// TestKilledWhileHeadsAreWritten: wherever a process is killed in it, the run can be
// resumed, on the machine that it was begun on and after a restart.
func TestKilledWhileHeadsAreWritten(t *testing.T) {
	for _, started := range []string{boot(), "once more"} {
		for cut := 1; cut <= 30; cut++ {
			ctx, p := context.Background(), killed(t)
			p.started, p.kills = started, true
			p.cut = p.ops + cut
			if lease, err := on(p).Lock(ctx, Claim{Target: "lamp/1"}); err == nil {
				record, err := Load(ctx, on(p), "run-1")
				if err == nil && record.Reopen(lease, noon) == nil {
					_ = record.Append(ctx, Resumed, "", Resumption{})
				}
			}
			p.cut, p.locks = -1, map[string]bool{}
			lease, err := on(p).Lock(ctx, Claim{Target: "lamp/1"})
			if err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			record, err := Load(ctx, on(p), "run-1")
			if err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			if err := record.Reopen(lease, noon); err != nil {
				t.Errorf("cut at %d: the run can't be resumed: %v", cut, err)
			}
		}
	}
}

// TestKilledWhileTheNextRunBegins: the head of a run stands beside the lease before the
// lease names it durably. The other way round it would look taken away.
func TestKilledWhileTheNextRunBegins(t *testing.T) {
	for cut := 1; cut <= 40; cut++ {
		ctx, p := context.Background(), killed(t)
		lease, err := on(p).Lock(ctx, Claim{Target: "lamp/1"})
		if err == nil {
			err = errors.Join(Forget(ctx, on(p), lease, "run-1"), lease.Release(ctx))
		}
		if err != nil {
			t.Fatal(err)
		}
		p.kills, p.cut = true, p.ops+cut
		if lease, err := on(p).Lock(ctx, Claim{Target: "lamp/1"}); err == nil {
			header := Header{Run: "run-2", Runbook: "mend", Target: runbook.Target{ID: "lamp/1"}}
			_, _ = Create(ctx, on(p), lease, noon, header)
		}
		p.cut, p.locks = -1, map[string]bool{}
		lease, err = on(p).Lock(ctx, Claim{Target: "lamp/1"})
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		record, err := Load(ctx, on(p), "run-2")
		if err != nil || len(record.Entries) == 0 {
			continue // it was not begun
		}
		if err := record.Reopen(lease, noon); err != nil {
			t.Errorf("cut at %d: the run can't be resumed: %v", cut, err)
		}
	}
}

func forge(p *platter, open OpenRun) {
	headOn(p).data = nil
	if err := (&headFile{&platterFile{p, "head", headOn(p)}}).write(open); err != nil {
		panic(err)
	}
}

// TestHeadOfAnOperatorCountsAgain: an operator who adopts or gives up a record has
// the last word, whatever head the run left.
func TestHeadOfAnOperatorCountsAgain(t *testing.T) {
	ctx, p := context.Background(), killed(t)
	lease, err := on(p).Lock(ctx, Claim{Target: "lamp/1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := Forget(ctx, on(p), lease, "run-1"); err != nil {
		t.Fatal(err)
	}
	if open := known(t, p); !open.Closed || open.Epoch != lease.Epoch() {
		t.Errorf("the lease names %+v", open)
	}
}

// TestLeaseNoticesAnotherHolder: the file is looked at each time, and read when it is
// not the one that this process left.
func TestLeaseNoticesAnotherHolder(t *testing.T) {
	ctx, file := context.Background(), NewFile(t.TempDir())
	for name, take := range map[string]func(path string, raw []byte) error{
		"a new file": func(path string, raw []byte) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, raw, 0o600))
		},
		"edited":      func(path string, raw []byte) error { return os.WriteFile(path, raw, 0o600) },
		"not a lease": func(path string, _ []byte) error { return os.WriteFile(path, []byte("x"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			lease, err := file.Lock(ctx, Claim{Target: name})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = lease.Release(ctx) })
			if err := lease.Check(ctx); err != nil {
				t.Fatalf("the lease is ours: %v", err)
			}
			path := filepath.Join(file.Dir(), leasePath(name))
			if err := take(path, []byte(`{"target": "x", "epoch": 1000}`)); err != nil {
				t.Fatal(err)
			}
			var lost *LostError
			if err := lease.Check(ctx); !errors.As(err, &lost) {
				t.Errorf("checked: %v", err)
			}
			if err := lease.SetOpenRun(ctx, OpenRun{Run: "run-1", Seq: 1}); !errors.As(err, &lost) {
				t.Errorf("set a head: %v", err)
			}
		})
	}
}

// TestLeaseWhoseFileIsAnOlderOneIsLost: an older copy was put back, or it was removed and another holder counts anew.
func TestLeaseWhoseFileIsAnOlderOneIsLost(t *testing.T) {
	ctx, file := context.Background(), NewFile(t.TempDir())
	path := filepath.Join(file.Dir(), leasePath("lamp/1"))
	var older []byte
	for epoch := range 2 {
		lease, err := file.Lock(ctx, Claim{Target: "lamp/1"})
		if err != nil {
			t.Fatal(err)
		}
		if epoch == 0 {
			if older, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		} else {
			if err := errors.Join(os.Remove(path), os.WriteFile(path, older, 0o600)); err != nil {
				t.Fatal(err)
			}
			var lost *LostError
			if err := lease.Check(ctx); !errors.As(err, &lost) {
				t.Errorf("checked: %v", err)
			}
		}
		if err := lease.Release(ctx); err != nil {
			t.Error(err)
		}
	}
}

// TestLeaseThatWasMadeAnewIsLost: a file that was removed by hand begins with the first epoch again, which must not
// look like ours.
func TestLeaseThatWasMadeAnewIsLost(t *testing.T) {
	ctx, file := context.Background(), NewFile(t.TempDir())
	lease, err := file.Lock(ctx, Claim{Target: "lamp/1", Holder: Holder{Run: "run-1", Host: "north", PID: 1}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(file.Dir(), leasePath("lamp/1"))
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	theirs := bytes.Replace(raw, []byte(`"host":"north"`), []byte(`"host":"south"`), 1)
	if err := errors.Join(os.Remove(path), os.WriteFile(path, theirs, 0o600)); err != nil || bytes.Equal(raw, theirs) {
		t.Fatalf("%v, %s", err, theirs)
	}
	var lost *LostError
	if err := lease.Check(ctx); !errors.As(err, &lost) || lost.Holder == nil || lost.Holder.Host != "south" {
		t.Errorf("checked: %v", err)
	}
	if err := lease.SetOpenRun(ctx, OpenRun{Target: "lamp/1", Run: "run-1"}); !errors.As(err, &lost) {
		t.Errorf("a head was written over theirs: %v", err)
	}
	if err := lease.Release(ctx); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, theirs) {
		t.Errorf("their lease was written over: %s, %v", left, err)
	}
}

// TestHeadFileIsNoLink: what is planted in its place is neither written nor read.
func TestHeadFileIsNoLink(t *testing.T) {
	ctx, file := context.Background(), NewFile(t.TempDir())
	lease, err := file.Lock(ctx, Claim{Target: "lamp/1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(ctx); err != nil {
		t.Fatal(err)
	}
	head := filepath.Join(file.Dir(), headPath(leasePath("lamp/1")))
	victim := filepath.Join(t.TempDir(), "victim")
	if err := errors.Join(os.WriteFile(victim, []byte("precious"), 0o600), os.Remove(head),
		os.Symlink(victim, head)); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Lock(ctx, Claim{Target: "lamp/1"}); err == nil {
		t.Error("the lease was taken over a link")
	}
	if raw, err := os.ReadFile(victim); err != nil || string(raw) != "precious" {
		t.Errorf("the other file holds %q, %v", raw, err)
	}
}
