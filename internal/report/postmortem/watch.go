package postmortem

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"salve/internal/prow/finding"
)

// WatchFile is what salve prow watch --output json printed, with the name it is cited by.
type WatchFile struct {
	Name    string
	Changes []WatchChange
}

// WatchChange is one line of it.
type WatchChange struct {
	Line     int              `json:"-"`
	Time     time.Time        `json:"time"`
	Change   string           `json:"change"`
	Was      finding.Severity `json:"was"`
	Finding  *finding.Finding `json:"finding"`
	Rule     string           `json:"rule"`
	Severity finding.Severity `json:"severity"`
	Reason   string           `json:"reason"`
	NotGiven bool             `json:"notGiven"`
}

// What a line says of a finding, or of a rule.
const (
	appeared = "new"
	worsened = "worse"
	eased    = "better"
	gone     = "gone"
	blind    = "blind"
	sees     = "sees"
)

// ReadWatch reads the lines of a watch. A line that isn't one is an error.
func ReadWatch(name string, raw []byte) (WatchFile, error) {
	file := WatchFile{Name: name}
	for i, text := range bytes.Split(raw, []byte("\n")) {
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		change := WatchChange{Line: i + 1}
		if err := json.Unmarshal(text, &change); err != nil {
			return file, fmt.Errorf("%s:%d: not a line of salve prow watch --output json: %w", name, i+1, err)
		}
		if err := change.validate(); err != nil {
			return file, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
		file.Changes = append(file.Changes, change)
	}
	return file, nil
}

func (c WatchChange) validate() error {
	switch {
	case c.Time.IsZero():
		return fmt.Errorf("a change without a time")
	case c.Rule == "":
		return fmt.Errorf("a change without a rule")
	}
	switch c.Change {
	case blind, sees:
		return nil
	case appeared, worsened, eased, gone:
		if c.Finding == nil {
			return fmt.Errorf("change %q without a finding", c.Change)
		}
		return nil
	}
	return fmt.Errorf("unknown change %q", c.Change)
}

// watchFact is a change of a finding that a section tells of.
type watchFact struct {
	mention
	change   string
	severity finding.Severity
	rule     string
	mend     string
}

func (s *story) readWatch(file WatchFile) {
	s.readWatchTurns(file)
	for _, change := range file.Changes {
		source := Source{Kind: FromWatch, Of: file.Name, At: change.Line, Detail: clean(change.Rule, 32)}
		event := Event{At: change.Time, Source: source, clock: "watch " + file.Name}
		alarming := change.Severity.AtLeast(finding.Warn)
		switch change.Change {
		case blind:
			event.Kind, event.Text = Blinded, fmt.Sprintf("rule %s can't see: %s", change.Rule, change.Reason)
			event.Telling = !change.NotGiven
		case sees:
			event.Kind, event.Text = Found, fmt.Sprintf("rule %s sees again", change.Rule)
		case gone:
			event.Kind, event.Telling = Cleared, alarming
			event.Text = fmt.Sprintf("%s %s gone: %s", change.Severity, change.Rule, about(*change.Finding))
		default:
			event.Kind, event.Telling = Found, alarming && change.Change != eased
			event.Text = fmt.Sprintf("%s %s %s: %s", change.Severity, change.Rule, change.Change, about(*change.Finding))
		}
		if s.add(event) && change.Finding != nil {
			s.facts.watch = append(s.facts.watch, watchFact{
				mention: mention{at: change.Time.UTC(), text: clean(event.Text, itemRoom), source: source},
				change:  change.Change, severity: change.Severity, rule: change.Rule, mend: clean(change.Finding.Mend, itemRoom),
			})
		}
	}
}

func about(f finding.Finding) string {
	if subject := f.Subject.String(); subject != "" {
		return subject + ": " + f.Message
	}
	return f.Message
}
