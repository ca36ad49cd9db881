package configmap_test

import (
	"bytes"
	"errors"
	"math/rand"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

// TestEachRunbookHasItsKey: made once, and read by all.
func TestEachRunbookHasItsKey(t *testing.T) {
	b := newBench(t)
	first, err := b.runner(0, nil).MakeKey(t.Context(), "mend")
	b.must(err)
	again, err := b.runner(0, nil).MakeKey(t.Context(), "mend")
	b.must(err)
	other, err := b.runner(0, nil).MakeKey(t.Context(), "break")
	b.must(err)
	odd, err := b.runner(0, nil).MakeKey(t.Context(), "Not a name/of an object")
	b.must(err)
	if first.ID() != again.ID() || first.ID() == other.ID() || odd.ID() == other.ID() {
		t.Errorf("keys %s, %s, %s and %s", first.ID(), again.ID(), other.ID(), odd.ID())
	}
}

// TestForbiddenKeySaysWhatToDo: with a command that an administrator can paste.
func TestForbiddenKeySaysWhatToDo(t *testing.T) {
	b := newBench(t)
	_, err := b.stranger().MakeKey(t.Context(), "mend")
	var refused *journal.KeyError
	if !errors.As(err, &refused) || apierr.ClassOf(err) != apierr.Denied {
		t.Fatalf("got %v", err)
	}
	want := "kubectl -n " + b.namespace + " create secret generic journal-key-mend --from-literal=key="
	if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--resource-name=journal-key-mend") {
		t.Errorf("it says %q", err)
	}
}

// TestExportsAreSecretsInChunks: apart from the records, and gone with them.
func TestExportsAreSecretsInChunks(t *testing.T) {
	b := newBench(t)
	kept := b.runner(0, nil)
	b.must(kept.Create(t.Context(), "run-1"))
	data := make([]byte, 2<<20) // which doesn't compress
	_, _ = rand.New(rand.NewSource(1)).Read(data)
	for range 2 { // the second time it is there
		b.must(kept.PutExport(t.Context(), "run-1", "bundle.x", data))
	}
	if err := kept.PutExport(t.Context(), "run-1", "bundle.x", data[:10]); apierr.ClassOf(err) != apierr.Conflict {
		t.Errorf("other data under the same name: %v", err)
	}
	read, err := b.runner(0, nil).Export(t.Context(), "run-1", "bundle.x")
	if err != nil || !bytes.Equal(read, data) {
		t.Errorf("%d bytes, %v", len(read), err)
	}
	secrets := b.plane.Client().CoreV1().Secrets(b.namespace + "-exports")
	list, err := secrets.List(t.Context(), metav1.ListOptions{LabelSelector: "salve-run=run-1"})
	b.must(err)
	if len(list.Items) < 3 {
		t.Errorf("%d Secrets hold 2 MiB", len(list.Items))
	}
	b.must(kept.Delete(t.Context(), "run-1"))
	var missing *journal.MissingError
	if _, err := kept.Export(t.Context(), "run-1", "bundle.x"); !errors.As(err, &missing) {
		t.Errorf("after the run was deleted: %v", err)
	}
	if _, err := kept.Read(t.Context(), "run-1"); !errors.As(err, &missing) {
		t.Errorf("the record: %v", err)
	}
}

// opened makes a run with an intent under a lease.
func (b *bench) opened(run string) journal.Lease {
	b.Helper()
	kept := b.runner(span, nil)
	lease, err := b.lock(kept, run)
	b.must(err)
	record, err := journal.Create(b.Context(), kept, lease, time.Now,
		journal.Header{Run: run, Runbook: "mend", Target: runbook.Target{ID: "lamp/1"}})
	b.must(err)
	b.must(record.Append(b.Context(), journal.Intended, "a", journal.Intent{Attempt: 1}))
	return lease
}

// TestRemovedLabelHidesNoOpenRun: the lease names it, and its parts are read by name.
func TestRemovedLabelHidesNoOpenRun(t *testing.T) {
	b := newBench(t)
	b.must(b.opened("run-1").Release(t.Context()))
	maps := b.plane.Client().CoreV1().ConfigMaps(b.namespace)
	object, err := maps.Get(t.Context(), "run-run-1-1", metav1.GetOptions{})
	b.must(err)
	object.Labels = nil
	_, err = maps.Update(t.Context(), object, metav1.UpdateOptions{})
	b.must(err)
	kept := b.runner(span, nil)
	peeked, err := kept.Peek(t.Context(), "lamp/1")
	b.must(err)
	found, err := journal.FindOpen(t.Context(), kept, "lamp/1", peeked.Open)
	if err != nil || found.Record == nil || found.Record.Run != "run-1" {
		t.Errorf("found %+v, %v", found, err)
	}
}

// TestGarbageIsInNobodysWay: whatever somebody writes beside the records.
func TestGarbageIsInNobodysWay(t *testing.T) {
	b := newBench(t)
	kept := b.runner(span, nil)
	b.must(kept.Create(t.Context(), "garbage"))
	b.must(kept.Append(t.Context(), "garbage", 1, []byte("{not a line}\n")))
	maps := b.plane.Client().CoreV1().ConfigMaps(b.namespace)
	object, err := maps.Get(t.Context(), "run-garbage-1", metav1.GetOptions{})
	b.must(err)
	object.Data["no-number"] = "x"
	_, err = maps.Update(t.Context(), object, metav1.UpdateOptions{})
	b.must(err)
	found, err := journal.FindOpen(t.Context(), kept, "lamp/1", nil)
	if err != nil || found.Record != nil || len(found.Unreadable) != 1 {
		t.Fatalf("found %+v, %v", found, err)
	}
	pruned, err := journal.Prune(t.Context(), kept, journal.Retention{Broken: true})
	if err != nil || len(pruned) != 1 {
		t.Errorf("pruned %v, %v", pruned, err)
	}
}

// TestNextHolderIsToldOfTheOpenRun: taking the lease forgets nothing of it.
func TestNextHolderIsToldOfTheOpenRun(t *testing.T) {
	b := newBench(t)
	b.must(b.opened("run-1").Release(t.Context()))
	kept := b.runner(span, nil)
	lease, err := b.lock(kept, "run-1")
	b.must(err)
	record, err := journal.Load(t.Context(), kept, "run-1")
	b.must(err)
	b.must(record.Reopen(lease, time.Now))
	b.must(lease.Release(t.Context()))
}
