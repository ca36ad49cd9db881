package finding

import (
	"fmt"
	"slices"
)

// Severity is how bad it is. The zero value is invalid.
type Severity string

const (
	// OK says that it was looked for, and nothing is wrong.
	OK Severity = "OK"
	// Info is worth knowing; nothing is wrong.
	Info Severity = "INFO"
	// Unknown says that an input is missing, stale or unreadable. It is never read as OK.
	Unknown Severity = "UNKNOWN"
	// Warn will hurt when something else happens too.
	Warn Severity = "WARN"
	// Alert hurts now, or as soon as the change takes effect.
	Alert Severity = "ALERT"
)

// severities are all, from good to bad.
func severities() []Severity { return []Severity{OK, Info, Unknown, Warn, Alert} }

// ParseSeverity reads one as a user writes it.
func ParseSeverity(text string) (Severity, error) {
	if s := Severity(text); s.Valid() {
		return s, nil
	}
	return "", fmt.Errorf("invalid severity %q: it is one of %v", text, severities())
}

// Valid is false for the zero value and whatever else is no severity.
func (s Severity) Valid() bool { return slices.Contains(severities(), s) }

// AtLeast is whether s is as bad as other, or worse. UNKNOWN is worse than INFO and
// less bad than WARN. An invalid severity is worse than all.
func (s Severity) AtLeast(other Severity) bool { return s.rank() >= other.rank() }

func (s Severity) rank() int {
	if rank := slices.Index(severities(), s); rank >= 0 {
		return rank
	}
	return len(severities())
}
