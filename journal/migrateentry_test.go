package journal

import (
	"errors"
	"testing"
)

// TestEntryThatIsEncodedOtherwiseIsNotMoved: sealing it anew would change it.
func TestEntryThatIsEncodedOtherwiseIsNotMoved(t *testing.T) {
	from, to := NewMemory(), NewMemory()
	if err := from.Create(t.Context(), "run-1"); err != nil {
		t.Fatal(err)
	}
	body := []byte(`{"kind":"opened","seq":1,"epoch":1,"at":"2026-03-01T12:00:00Z","data":{"run":"run-1","target":{"id":"lamp/1"}}}`)
	line, _, err := sealLine(from.key, body, 1, mark{})
	if err := errors.Join(err, from.Append(t.Context(), "run-1", 1, line)); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(t.Context(), from, "run-1"); err != nil {
		t.Fatal(err) // it is sealed, and can be read
	}
	move := Migration{
		Run: "run-1", From: Location{Backend: from, Locker: from, ID: "from"},
		To: Location{Backend: to, Locker: to, ID: "to"}, Now: noon,
	}
	var broken *BrokenError
	if _, err := move.Migrate(t.Context()); !errors.As(err, &broken) || broken.Line != 1 || broken.Target != "lamp/1" {
		t.Errorf("got %v", err)
	}
	if record, err := Load(t.Context(), from, "run-1"); err != nil || record.Closed != nil {
		t.Errorf("it is closed here: %v", err)
	}
	if lines, err := to.Read(t.Context(), "run-1"); err == nil {
		t.Errorf("there it has %d lines", len(lines))
	}
}
