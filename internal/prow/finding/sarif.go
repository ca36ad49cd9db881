package finding

import (
	"io"
	"strings"

	"salve/internal/diagnostic"
)

// SARIF writes findings for code scanning. The rules are all that were looked for; OK
// is not written.
func SARIF(w io.Writer, list List, rules []diagnostic.Rule, log diagnostic.Log) error {
	if err := list.Validate(); err != nil {
		return err
	}
	var results diagnostic.List
	for _, f := range list {
		if f.Severity != OK {
			results = append(results, f.diagnostic())
		}
	}
	return diagnostic.SARIF(w, results, rules, log)
}

// diagnostic is the finding as code scanning knows such things. Its step, which is
// part of the fingerprint, is the subject.
func (f Finding) diagnostic() diagnostic.Diagnostic {
	var severity diagnostic.Severity
	switch f.Severity {
	case Alert:
		severity = diagnostic.Error
	case Warn, Unknown:
		severity = diagnostic.Warning
	default:
		severity = diagnostic.Note
	}
	message := f.Message
	if subject := f.Subject.String(); subject != "" {
		message = subject + ": " + message
	}
	if len(f.Evidence) > 0 {
		message += " (" + strings.Join(f.Evidence, "; ") + ")"
	}
	return diagnostic.Diagnostic{Position: f.Position, Severity: severity, Rule: f.Rule, Message: message, Advice: f.Mend}
}
