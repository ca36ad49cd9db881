package postmortem

import (
	"bytes"
	"encoding/json"
	"fmt"

	"salve/internal/report"
	"salve/internal/triage"
)

// ReadTriage reads a triage document. Another document, or one of a newer format, is an error.
func ReadTriage(name string, raw []byte) (TriageFile, error) {
	file := TriageFile{Name: name}
	if err := json.Unmarshal(bytes.TrimSpace(raw), &file.Document); err != nil {
		return file, fmt.Errorf("%s: not a triage document: %w. hint: salve triage PATH --output json", name, err)
	}
	if file.Document.Format != triage.Format {
		return file, fmt.Errorf("%s: format %q is not %s. hint: salve triage PATH --output json", name,
			clean(file.Document.Format, 40), triage.Format)
	}
	return file, nil
}

func (s *story) readTriage(file TriageFile) {
	d := file.Document
	source := Source{Kind: FromTriage, Of: file.Name}
	clock := "triage " + file.Name
	for _, moment := range d.Timeline {
		if moment.Failed > 0 {
			s.add(Event{At: moment.Time, Kind: Found, Telling: true, Source: source, clock: "tests of " + file.Name,
				Text: fmt.Sprintf("first tests fail: %d failed, %d passed within %d s", moment.Failed, moment.Passed,
					moment.Seconds)})
			break
		}
	}
	if !s.add(Event{At: d.Created, Kind: Judged, Telling: true, Source: source, clock: clock,
		Text: fmt.Sprintf("triage of %s: %s (confidence %s); %s", orUnnamed(d.Build), d.Verdict, d.Confidence, d.Summary)}) {
		return
	}
	s.facts.triage = append(s.facts.triage, file)
	for _, group := range d.Groups {
		of := source
		of.Detail = clean(group.Key, 64)
		s.add(Event{At: d.Created, Kind: Judged, Source: of, clock: clock, Text: fmt.Sprintf("%s: %s, %s: %s",
			report.Count(group.Failures, "failure", "failures"), group.Verdict, group.Cause.Text, group.Message)})
	}
}

func orUnnamed(build string) string {
	if build == "" {
		return "a run without a name"
	}
	return build
}
