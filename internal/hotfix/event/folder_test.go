package event_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"salve/internal/hotfix/event"
)

var noon = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)

func TestTheLastEventsAreKept(t *testing.T) {
	folder := event.Folder{Path: filepath.Join(t.TempDir(), "a", "events"), Keep: 5}
	for i := range 12 {
		e := event.Event{Time: noon.Add(time.Duration(i) * time.Millisecond), Command: "fetch", Level: event.Warning,
			Outcome: "unreachable"}
		e.Measure("all", 1500*time.Microsecond)
		check(t, folder.Write(e, e.Time))
	}
	events, unreadable, err := folder.Last(100)
	check(t, err)
	if len(events) != 5 || unreadable != 0 {
		t.Fatalf("%d events, %d unreadable", len(events), unreadable)
	}
	for i, e := range events {
		if want := noon.Add(time.Duration(7+i) * time.Millisecond); !e.Time.Equal(want) || e.Milliseconds["all"] != 1.5 ||
			e.SchemaVersion != 1 {
			t.Errorf("event %d: %+v", i, e)
		}
	}
	if events, _, _ = folder.Last(2); len(events) != 2 || !events[1].Time.Equal(noon.Add(11*time.Millisecond)) {
		t.Errorf("the last two: %+v", events)
	}
}

func TestWhatIsNoEvent(t *testing.T) {
	folder := event.Folder{Path: t.TempDir(), Keep: 3}
	if events, unreadable, err := (event.Folder{Path: folder.Path + "/none"}).Last(3); len(events) != 0 ||
		unreadable != 0 || err != nil {
		t.Errorf("of a folder that isn't there: %v, %d, %v", events, unreadable, err)
	}
	half := filepath.Join(folder.Path, "20200101T000000.000000000Z-fetch-1.json.part")
	check(t, os.WriteFile(half, []byte("{"), 0o600))
	check(t, os.WriteFile(filepath.Join(folder.Path, "20200102T000000.000000000Z-fetch-1.json"), []byte("{"), 0o600))
	check(t, os.WriteFile(filepath.Join(folder.Path, "notes.txt"), nil, 0o600))
	check(t, folder.Write(event.Event{Time: noon, Command: "select"}, noon))
	events, unreadable, err := folder.Last(3)
	if len(events) != 1 || unreadable != 1 || err != nil {
		t.Errorf("%v, %d, %v", events, unreadable, err)
	}
	// What is half-written goes in its turn, and what is none of ours stays.
	check(t, folder.Write(event.Event{Time: noon.Add(1), Command: "select"}, noon.Add(1)))
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Error("the half-written one is still there")
	}
	if _, err := os.Stat(filepath.Join(folder.Path, "notes.txt")); err != nil {
		t.Error(err)
	}
}

func TestAFolderThatCanNotBeWrittenTo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, nil, 0o600))
	if err := (event.Folder{Path: file, Keep: 3}).Write(event.Event{Time: noon}, noon); err == nil {
		t.Error("it was written")
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
