package journal_test

import (
	"errors"
	"testing"

	"salve/journal"
	"salve/runbook"
)

// asked makes a record with a plan and a question about one.
func asked(t *testing.T, plan, about string) *journal.File {
	t.Helper()
	store := journal.NewFile(t.TempDir())
	header := journal.Header{Run: "run-1", Runbook: "lamp-off", Target: runbook.Target{ID: "lamp/1"}}
	record, err := journal.Create(ctx, store, locked(t, store), now, header)
	if err != nil {
		t.Fatal(err)
	}
	err = record.AppendAll(ctx, journal.Pending{Kind: journal.Planned, Data: runbook.Plan{Digest: plan}},
		journal.Pending{Kind: journal.Asked, Data: journal.Question{ID: "q1", Digest: about}})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// TestQuestionIsAboutThePlanThatIsShown: an approver would approve another one than they look at.
func TestQuestionIsAboutThePlanThatIsShown(t *testing.T) {
	waiting, err := journal.ReadWaiting(ctx, asked(t, "d1", "d1"), "run-1")
	if err != nil || waiting.Plan.Digest != "d1" || waiting.Question.ID != "q1" {
		t.Errorf("waits %+v, %v", waiting, err)
	}
	var broken *journal.BrokenError
	if waiting, err := journal.ReadWaiting(ctx, asked(t, "d1", "d2"), "run-1"); !errors.As(err, &broken) {
		t.Errorf("about another plan: %+v, %v", waiting, err)
	}
}

// TestIdentitiesAreTheSame where anything shows that one person is behind both: four eyes are of two people.
func TestIdentitiesAreTheSame(t *testing.T) {
	for name, row := range map[string]struct {
		one, other journal.Identity
		want       bool
	}{
		"one user":             {journal.Identity{User: "alice"}, journal.Identity{User: "alice"}, true},
		"two users":            {journal.Identity{User: "alice"}, journal.Identity{User: "bob"}, false},
		"a user renamed":       {journal.Identity{User: "alice", UID: "7"}, journal.Identity{User: "bob", UID: "7"}, true},
		"two UIDs":             {journal.Identity{User: "alice", UID: "7"}, journal.Identity{User: "bob", UID: "8"}, false},
		"one key by two names": {journal.Identity{User: "alice", Key: "k"}, journal.Identity{User: "bob", Key: "k"}, true},
		"one name, two keys":   {journal.Identity{User: "alice", Key: "k"}, journal.Identity{User: "alice", Key: "l"}, true},
		"a key and a name":     {journal.Identity{User: "alice", Key: "k"}, journal.Identity{User: "alice"}, true},
		"two keys, two names":  {journal.Identity{User: "alice", Key: "k"}, journal.Identity{User: "bob", Key: "l"}, false},
	} {
		if row.one.Same(row.other) != row.want || row.other.Same(row.one) != row.want {
			t.Errorf("%s: %t", name, !row.want)
		}
	}
}
