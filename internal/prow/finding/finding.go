package finding

import (
	"fmt"
	"slices"
	"strings"

	"salve/internal/diagnostic"
)

// Finding is one thing that a rule found.
type Finding struct {
	// Rule is the ID of the rule, such as B1.
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	// Position is what to look at in a file; the zero value where no file is meant.
	Position diagnostic.Position `json:"position,omitzero"`
	Subject  Subject             `json:"subject"`
	// Message says what is wrong, in one sentence without a full stop.
	Message string `json:"message"`
	// Evidence are the facts that it rests on, one a line.
	Evidence []string `json:"evidence,omitempty"`
	// Mend says what to do about it.
	Mend string `json:"mend,omitempty"`
}

// Subject is what a finding is about. Only what fits is set.
type Subject struct {
	Org       string `json:"org,omitempty"`
	Repo      string `json:"repo,omitempty"`
	Branch    string `json:"branch,omitempty"`
	Context   string `json:"context,omitempty"`
	Job       string `json:"job,omitempty"`
	Cluster   string `json:"cluster,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Component is a part of Prow, such as sinker.
	Component string `json:"component,omitempty"`
	// Detail is what else tells two findings of one rule apart: the path of a field, a
	// file, the name of an object.
	Detail string `json:"detail,omitempty"`
}

// Identity tells findings apart. It stays the same when lines move, and when words,
// evidence or severity change.
type Identity struct {
	Rule    string
	Subject Subject
}

// Identity is the finding's.
func (f Finding) Identity() Identity { return Identity{f.Rule, f.Subject} }

// String is the subject in words, such as org/repo=main context=unit; empty where
// nothing is set.
func (s Subject) String() string {
	where := s.Org
	if s.Repo != "" {
		where += "/" + s.Repo
	}
	if s.Branch != "" {
		where += "=" + s.Branch
	}
	words := []string{where}
	for _, part := range []struct{ name, value string }{
		{"context", s.Context}, {"job", s.Job}, {"cluster", s.Cluster}, {"namespace", s.Namespace},
		{"component", s.Component},
	} {
		if part.value != "" {
			words = append(words, part.name+"="+part.value)
		}
	}
	words = append(words, s.Detail)
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

// Validate refuses a finding that says nothing, or not how bad it is.
func (f Finding) Validate() error {
	switch {
	case f.Rule == "":
		return fmt.Errorf("finding without a rule: %q", f.Message)
	case !f.Severity.Valid():
		return fmt.Errorf("finding of rule %s has severity %q", f.Rule, f.Severity)
	case f.Message == "":
		return fmt.Errorf("finding of rule %s without a message", f.Rule)
	}
	return nil
}

// printable is the finding without what a terminal would obey: names come from files
// and servers of others.
func (f Finding) printable() Finding {
	show := diagnostic.Printable
	f.Position.File, f.Message, f.Mend = show(f.Position.File), show(f.Message), show(f.Mend)
	s := &f.Subject
	for _, text := range []*string{&s.Org, &s.Repo, &s.Branch, &s.Context, &s.Job, &s.Cluster, &s.Namespace,
		&s.Component, &s.Detail} {
		*text = show(*text)
	}
	f.Evidence = slices.Clone(f.Evidence)
	for i, line := range f.Evidence {
		f.Evidence[i] = show(line)
	}
	return f
}
