package cli

import (
	"time"

	"github.com/spf13/pflag"

	"salve/internal/report/chat"
	"salve/internal/report/postmortem"
)

// reportFiles are the files that a report is made from, besides the journals.
type reportFiles struct {
	notes     []string
	notesDate string
	notesZone string
	watch     []string
	triage    []string
}

func (r *reportFiles) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&r.notes, "notes", nil, "`FILE` with a chat export (repeatable; docs/reports.md has the forms)")
	flags.StringVar(&r.notesDate, "notes-date", "",
		"`DATE` of the first message of --notes, as 2006-01-02, where they have none")
	flags.StringVar(&r.notesZone, "notes-zone", "", "`ZONE` of the times of --notes, such as America/Los_Angeles")
	flags.StringArrayVar(&r.watch, "watch", nil, "`FILE` with what salve prow watch --output json printed (repeatable)")
	flags.StringArrayVar(&r.triage, "triage", nil, "`FILE` with what salve triage --output json printed (repeatable)")
}

func (r *reportFiles) none() bool { return len(r.notes)+len(r.watch)+len(r.triage) == 0 }

func (r *reportFiles) read() (postmortem.Sources, error) {
	var sources postmortem.Sources
	if (r.notesDate != "" || r.notesZone != "") && len(r.notes) == 0 {
		return sources, usage("--notes-date and --notes-zone require --notes")
	}
	for _, path := range r.watch {
		raw, err := readText(path, largestDocument)
		if err != nil {
			return sources, usage("--watch: %v", err)
		}
		file, err := postmortem.ReadWatch(path, raw)
		if err != nil {
			return sources, usage("--watch: %v", err)
		}
		sources.Watch = append(sources.Watch, file)
	}
	for _, path := range r.triage {
		raw, err := readText(path, largestDocument)
		if err != nil {
			return sources, usage("--triage: %v", err)
		}
		file, err := postmortem.ReadTriage(path, raw)
		if err != nil {
			return sources, usage("--triage: %v", err)
		}
		sources.Triage = append(sources.Triage, file)
	}
	for _, path := range r.notes {
		file, err := r.readNotes(path)
		if err != nil {
			return sources, err
		}
		sources.Notes = append(sources.Notes, file)
	}
	return sources, nil
}

func (r *reportFiles) readNotes(path string) (postmortem.NotesFile, error) {
	file := postmortem.NotesFile{Name: path}
	options := chat.Options{Date: r.notesDate}
	if r.notesDate != "" {
		if _, err := time.Parse("2006-01-02", r.notesDate); err != nil {
			return file, usage("--notes-date %q: it must be a date, such as 2026-02-05", r.notesDate)
		}
	}
	if r.notesZone != "" {
		found, err := zone("--notes-zone", r.notesZone)
		if err != nil {
			return file, err
		}
		options.Zone = found
	}
	raw, err := readBounded(path, largestDocument)
	if err != nil {
		return file, usage("--notes: %v", err)
	}
	export, err := chat.Parse(raw, options)
	if err != nil {
		return file, usage("--notes: %s: %v", path, err)
	}
	for _, message := range export.Messages {
		file.Notes = append(file.Notes, postmortem.Note{
			Line: message.Line, Author: message.Author, Bot: message.Bot, At: message.At, Clock: message.Clock.String(),
			Text: message.Text,
		})
	}
	for _, question := range export.Questions {
		file.Questions = append(file.Questions, postmortem.NoteQuestion{Line: question.Line, Text: question.Text})
	}
	return file, nil
}
