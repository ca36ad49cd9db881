package check

import (
	"salve/internal/diagnostic"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
)

// The rules of loading: what is wrong with the files as files.

// loading gives the diagnostics of one rule. What Prow refuses is ALERT: it keeps the
// configuration that it has, and doesn't start again without one. What it drops without
// a word is WARN.
func loading(rule string) func(*facts) (finding.List, finding.Lack) {
	return func(f *facts) (finding.List, finding.Lack) {
		return fromDiagnostics(f.Now.Diagnostics, rule, map[string]string{
			config.RuleUnreadable: "fix the file: Prow keeps its last configuration, and no component of it starts again",
			config.RuleRefused:    "fix it: Prow keeps its last configuration, and no component of it starts again",
			config.RuleDropped:    "remove what Prow drops, or put it where it reads it",
		}[rule]), nothing()
	}
}

func fromDiagnostics(list diagnostic.List, rule, mend string) finding.List {
	var found finding.List
	seen := map[string]int{}
	for _, d := range list {
		if d.Rule != rule {
			continue
		}
		var severity finding.Severity
		switch d.Severity {
		case diagnostic.Warning:
			severity = finding.Warn
		case diagnostic.Note:
			severity = finding.Info
		default:
			severity = finding.Alert
		}
		detail := d.Position.File + ": " + d.Message
		if seen[detail]++; seen[detail] > 1 {
			detail += " (again at " + d.Position.String() + ")"
		}
		found = append(found, finding.Finding{Severity: severity, Position: d.Position, Message: d.Message,
			Subject: finding.Subject{Detail: detail}, Mend: mend})
	}
	return found
}

// unknownFields are keys that Prow drops because it doesn't know them: mostly a name
// that is misspelt, or a level too deep.
func unknownFields(f *facts) finding.List {
	var found finding.List
	for _, field := range f.Now.Partial().UnknownFields {
		found = append(found, finding.Finding{Severity: finding.Warn, Position: field.Position,
			Subject: finding.Subject{Detail: field.Position.File + ": " + field.Path},
			Message: "unknown field " + field.Path + ": Prow drops it without a word",
			Mend:    "correct its name or its place, or remove it"})
	}
	return found
}
