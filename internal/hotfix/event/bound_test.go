package event_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/event"
)

// TestAnEventIsSmall, however much there is to say, and still an event.
func TestAnEventIsSmall(t *testing.T) {
	for name, long := range map[string]string{
		"letters": strings.Repeat("a", 1<<20), "what JSON escapes": strings.Repeat("\x01<", 1<<19),
		"more than ASCII": strings.Repeat("日", 1<<19), "no UTF-8": strings.Repeat("\xff", 1<<20),
		"lines": strings.Repeat("line 2: an entry has to be a mapping\n", 1<<15),
	} {
		t.Run(name, func(t *testing.T) {
			folder := event.Folder{Path: t.TempDir(), Keep: 3}
			decision := hotfix.Decision{Current: long, Reason: hotfix.Reason(long)}
			for range 2000 {
				decision.Warnings = append(decision.Warnings, hotfix.Warning{Field: long[:2000], Problem: long[:2000]})
			}
			e := event.Event{
				Time: noon, Command: "fetch", Level: event.Warning, Outcome: "bad-payload", Reason: long, Target: long,
				Source: long, Problem: long, Path: long, Decision: &decision, Milliseconds: map[string]float64{"all": 7},
				Scripts: &event.Scripts{Outcome: "bad-payload", Target: long, Source: long, Problem: long},
			}
			for i := range 5000 {
				e.Milliseconds[fmt.Sprint("part ", i)] = 1
			}
			check(t, folder.Write(e, noon))
			files, err := os.ReadDir(folder.Path)
			check(t, err)
			info, err := files[0].Info()
			check(t, err)
			if info.Size() > event.Largest {
				t.Errorf("it has %d bytes", info.Size())
			}
			events, unreadable, err := folder.Last(1)
			check(t, err)
			if unreadable != 0 || events[0].Outcome != "bad-payload" || events[0].Milliseconds["all"] != 7 ||
				!strings.HasSuffix(events[0].Problem, "…") {
				t.Errorf("%d unreadable; it is %+v", unreadable, events)
			}
			if len(e.Milliseconds) != 5001 || len(e.Decision.Warnings) != 2000 || e.Scripts.Problem != long {
				t.Error("what the event was made of has changed")
			}
		})
	}
}

// TestAnOrdinaryEventIsWhole: nothing of it is cut.
func TestAnOrdinaryEventIsWhole(t *testing.T) {
	folder := event.Folder{Path: t.TempDir(), Keep: 3}
	problem := strings.Repeat("it says that it is another version; ", 20)
	target := "202604.01.2"
	e := event.Event{SchemaVersion: 1, Time: noon, Command: "fetch", Level: event.Warning, Outcome: "unfit",
		Problem: problem, Decision: &hotfix.Decision{Target: &target, Warnings: []hotfix.Warning{{Field: "a", Problem: "b"}}},
		Scripts:      &event.Scripts{Outcome: "applied", Target: target},
		Milliseconds: map[string]float64{"all": 1, "program": 1}}
	check(t, folder.Write(e, noon))
	events, _, err := folder.Last(1)
	check(t, err)
	if got, want := fmt.Sprintf("%+v %+v %+v", events[0], *events[0].Decision.Target, *events[0].Scripts),
		fmt.Sprintf("%+v", problem); !strings.Contains(got, want) || len(events[0].Decision.Warnings) != 1 ||
		events[0].Scripts.Target != target || len(events[0].Milliseconds) != 2 {
		t.Errorf("it is %s", got)
	}
}

// TestTheFolderIsBounded in bytes, too: an earlier version wrote 113 MiB at once.
func TestTheFolderIsBounded(t *testing.T) {
	folder := event.Folder{Path: t.TempDir(), Keep: 200}
	oversized := filepath.Join(folder.Path, "20260101T000000.000000000Z-fetch-1.json")
	check(t, os.WriteFile(oversized, make([]byte, 5<<20), 0o600))
	for i := range 300 {
		e := event.Event{Time: noon, Command: "fetch", Problem: strings.Repeat("x", 4<<20)}
		e.Source, e.Path, e.Target, e.Reason = e.Problem, e.Problem, e.Problem, e.Problem
		check(t, folder.Write(e, noon.Add(time.Duration(i))))
		if i > 0 {
			continue
		}
		if _, err := os.Stat(oversized); !os.IsNotExist(err) {
			t.Error("the event that is too large is still there")
		}
	}
	total, files := size(t, folder.Path)
	if total > 1<<20 || files > 200 || files < 100 {
		t.Errorf("%d files with %d bytes", files, total)
	}
}

// TestAnOversizedEventIsToldFromAnEvent: it is counted, and nothing of it is read.
func TestAnOversizedEventIsToldFromAnEvent(t *testing.T) {
	folder := event.Folder{Path: t.TempDir(), Keep: 200}
	check(t, folder.Write(event.Event{Time: noon, Command: "select"}, noon))
	big := `{"command":"fetch","problem":"` + strings.Repeat("x", event.Largest) + `"}`
	check(t, os.WriteFile(filepath.Join(folder.Path, "20270101T000000.000000000Z-fetch-1.json"), []byte(big), 0o600))
	events, unreadable, err := folder.Last(10)
	if len(events) != 1 || unreadable != 1 || err != nil {
		t.Errorf("%v, %d, %v", events, unreadable, err)
	}
}

// TestAFolderThatSomebodyFilled: what was written stays, the rest goes bit by bit.
func TestAFolderThatSomebodyFilled(t *testing.T) {
	folder := event.Folder{Path: t.TempDir(), Keep: 10}
	for i := range 5000 {
		name := fmt.Sprintf("20250101T000000.%09dZ-x-1.json", i)
		check(t, os.WriteFile(filepath.Join(folder.Path, name), nil, 0o600))
	}
	for i := range 3 {
		check(t, folder.Write(event.Event{Time: noon, Command: "select"}, noon.Add(time.Duration(i))))
	}
	if _, files := size(t, folder.Path); files != 10 {
		t.Errorf("%d files", files)
	}
	if events, _, err := folder.Last(3); len(events) != 3 || err != nil {
		t.Errorf("%v, %v", events, err)
	}
}

// TestAClockThatWasWrong: events of the year 2106 are the first to go, and do not
// stand for what happened last.
func TestAClockThatWasWrong(t *testing.T) {
	now := time.Date(2106, 2, 7, 6, 28, 15, 0, time.UTC)
	folder := event.Folder{Path: t.TempDir(), Keep: 5, Now: func() time.Time { return now }}
	for i := range 5 {
		check(t, folder.Write(event.Event{Time: now, Command: "future"}, now.Add(time.Duration(i))))
	}
	now = noon
	for i := range 3 {
		check(t, folder.Write(event.Event{Time: now, Command: "today"}, now.Add(time.Duration(i))))
	}
	events, _, err := folder.Last(3)
	check(t, err)
	for _, e := range events {
		if e.Command != "today" {
			t.Errorf("one of the last is of %s", e.Command)
		}
	}
	if _, files := size(t, folder.Path); files != 5 {
		t.Errorf("%d files", files)
	}
}

func size(t *testing.T, path string) (total int64, files int) {
	t.Helper()
	entries, err := os.ReadDir(path)
	check(t, err)
	for _, entry := range entries {
		info, err := entry.Info()
		check(t, err)
		total += info.Size()
	}
	return total, len(entries)
}

// TestAnAddedEventLeavesTheOthers to the next one that is written.
func TestAnAddedEventLeavesTheOthers(t *testing.T) {
	folder := event.Folder{Path: t.TempDir(), Keep: 3}
	for i := range 5 {
		check(t, folder.Add(event.Event{Time: noon, Command: "fetch"}, noon.Add(time.Duration(i))))
	}
	if _, files := size(t, folder.Path); files != 5 {
		t.Errorf("%d files", files)
	}
	check(t, folder.Write(event.Event{Time: noon, Command: "prepare"}, noon.Add(time.Hour)))
	events, _, err := folder.Last(9)
	if _, files := size(t, folder.Path); files != 3 || len(events) != 3 || events[2].Command != "prepare" || err != nil {
		t.Errorf("%d files, %v, %v", files, events, err)
	}
}
