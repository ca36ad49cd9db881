package postmortem_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/report/chat"
	"salve/internal/report/postmortem"
	"salve/internal/report/reporttest"
)

// chatOf reads the chat of a real post-mortem, which is kept beside the project.
func chatOf(t *testing.T, day string, options chat.Options) postmortem.NotesFile {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "triage", "postmortems", day+".md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the post-mortems are not there")
	}
	if err != nil {
		t.Fatal(err)
	}
	export, err := chat.Parse(raw, options)
	if err != nil {
		t.Fatal(err)
	}
	file := postmortem.NotesFile{Name: day + ".md"}
	for _, m := range export.Messages {
		file.Notes = append(file.Notes, postmortem.Note{Line: m.Line, Author: m.Author, Bot: m.Bot, At: m.At,
			Clock: m.Clock.String(), Text: m.Text})
	}
	for _, q := range export.Questions {
		file.Questions = append(file.Questions, postmortem.NoteQuestion{Line: q.Line, Text: q.Text})
	}
	return file
}

// TestTheProwDayWithItsChat: what people wrote into the timeline and what the record has stands in the draft, in few
// lines.
func TestTheProwDayWithItsChat(t *testing.T) {
	sources := reporttest.ProwDay(t)
	sources.Notes = []postmortem.NotesFile{chatOf(t, "2019-02-05",
		chat.Options{Date: "2019-02-05", Zone: reporttest.LosAngeles(t)})}
	made := reporttest.Draft(t, sources, postmortem.Options{})
	text, all, _ := strings.Cut(markdown(made), "<details>")
	for _, want := range []string{
		"08:47:01 PST | step prow/deploy begun",           // Outage begins
		"08:57:00 PST | Katharine: rolling back",          // rolls back
		"09:12:00 PST | prow (bot):",                      // merges by hand
		"09:27:00 PST | Katharine:",                       // the wrong namespace
		"09:34:00 PST | Katharine: okay, manual rollback", // Outage ends
		"10:01:00 PST | Katharine: verified",              // verifies
		"415 pods are stranded",                           // the number of pods
		"10:45:01 PST | step delete-pods begun",           // deletes the stray pods
		"salve run rescue-stranded-pods",                  // with which command
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the draft has no %q", want)
		}
	}
	notes, telling := 0, 0
	for _, e := range made.Timeline.Events {
		if e.Source.Kind == postmortem.FromNote {
			notes += max(e.Count, 1)
			if e.Telling {
				telling++
			}
		}
	}
	if notes < 50 || telling > notes/2 {
		t.Errorf("%d of %d messages are in the main timeline", telling, notes)
	}
	if !strings.Contains(all, "ship_it_parrot") {
		t.Error("the folded timeline lacks a message")
	}
}
