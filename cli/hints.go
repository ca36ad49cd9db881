package cli

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"salve/engine"
	"salve/journal"
)

// ownCommands makes the commands of hints those of this program: a site's own has another name, and salve does not know
// its runbooks. Those about a run get the flags that lead to its journal: hints are written where nobody knows these.
func (a *app) ownCommands(line string) string { return a.hints(line, nil) }

// hints is ownCommands for what the record of a run says, whose route is known.
func (a *app) hints(line string, route []string) string {
	line = a.completed(line, route)
	own := a.name() + " "
	return strings.NewReplacer(
		"hint: salve ", "hint: "+own, ", then salve ", ", then "+own, "; salve ", "; "+own,
		"(salve ", "("+own,
	).Replace(line)
}

// runCommand finds a command about a run or a journal, and the flags that it has.
var runCommand = regexp.MustCompile(`\bsalve (?:(resume|approve|deny|explain|runs show|runs abandon) ` +
	`([A-Za-z0-9][A-Za-z0-9-]*)|runs (?:list|prune)\b)((?: --[a-z-]+(?:[= ][^\s-]\S*)?)*)`)

// completed adds to commands what leads to the journal, so that they do what they say when they are pasted.
func (a *app) completed(line string, route []string) string {
	if a.journal == nil {
		return line
	}
	var text strings.Builder
	done := 0
	for _, at := range runCommand.FindAllStringSubmatchIndex(line, -1) {
		command, end := "", at[6]
		if at[2] >= 0 {
			command = line[at[2]:at[3]]
			if !isRunName(line[at[4]:at[5]]) {
				continue // a word of the sentence
			}
		}
		given := line[at[6]:at[7]]
		back := a.journal.wayBack(command, route)
		if len(back) == 0 || leads.MatchString(given) {
			continue
		}
		text.WriteString(line[done:end] + " " + shell(back))
		done = end
	}
	return text.String() + line[done:]
}

// leads finds the flags of which a command that has one is complete.
var leads = regexp.MustCompile(`--(?:journal|kubeconfig|subscription) `)

// isRunName tells the name of a run, or what stands for one, from a word.
func isRunName(word string) bool { return word == "RUN" || strings.ContainsAny(word, "0123456789") }

// wayBack are the flags that lead to the journal again, to resume also those that lead to the world, and the key with
// which an answer is signed beside a folder.
func (s *journalFlags) wayBack(command string, route []string) []string {
	switch {
	case len(s.back) == 0 && command != "resume":
		return nil
	case command == "resume" && s.folder != "":
		return withRoute(slices.Concat(s.back, s.locationFlags.typed(), s.cloud.typed()), route)
	case command == "resume":
		return withRoute(s.back, route)
	case (command == "approve" || command == "deny") && slices.Contains(s.back, "--journal"):
		return slices.Concat([]string{"--key", "KEY"}, s.back)
	}
	return s.back
}

// told is a history as it is shown: with the hints of its verdicts completed, which the record has as they were
// written.
func (a *app) told(history *journal.History) *journal.History {
	own := *history
	own.Parked, own.Closed = a.toldVerdict(history, history.Parked), a.toldVerdict(history, history.Closed)
	own.Entries = slices.Clone(history.Entries)
	for i, entry := range own.Entries {
		var verdict journal.Verdict
		if entry.Kind != journal.Parked && entry.Kind != journal.Closed || json.Unmarshal(entry.Data, &verdict) != nil {
			continue
		}
		if data, err := json.Marshal(a.toldVerdict(history, &verdict)); err == nil {
			own.Entries[i].Data = data
		}
	}
	return &own
}

func (a *app) toldVerdict(history *journal.History, verdict *journal.Verdict) *journal.Verdict {
	if verdict == nil {
		return nil
	}
	own := *verdict
	own.Reason = a.hints(own.Reason, history.Header.Route)
	own.Question = a.hints(own.Question, history.Header.Route)
	return &own
}

// toldEvent is an event as it is shown.
func (a *app) toldEvent(event engine.Event) engine.Event {
	if event.Verdict != nil {
		own := *event.Verdict
		own.Reason, own.Question = a.ownCommands(own.Reason), a.ownCommands(own.Question)
		event.Verdict = &own
	}
	event.Text = a.ownCommands(event.Text)
	return event
}
