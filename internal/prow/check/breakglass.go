package check

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
	"salve/internal/prow/finding"
)

// BreakGlass is how Prow is deployed when Prow can't: what the file of --break-glass
// says, of which docs/prow.md has an example.
type BreakGlass struct {
	File  string
	Paths []Way
}

// Way is one way around Prow.
type Way struct {
	Position diagnostic.Position
	Name     string
	// Covers are the components that it deploys; "*" is all of them.
	Covers []string
	// Document is the file that says how, and Documented whether it is there.
	Document   string
	Documented bool
	// Uses are the components of Prow that it needs itself.
	Uses []string
	// Credentials says which, and where they are kept.
	Credentials string
	// Commands are what is typed, a line each; {revision} stands for the commit that is deployed.
	Commands []string
	// Exercised is the day of the last exercise; the zero time where there was none.
	Exercised time.Time
}

type wayInFile struct {
	Name        string    `yaml:"name"`
	Covers      []string  `yaml:"covers"`
	Document    string    `yaml:"document"`
	Uses        []string  `yaml:"uses"`
	Credentials string    `yaml:"credentials"`
	Commands    []string  `yaml:"commands"`
	Exercised   yaml.Node `yaml:"exercised"`
}

// maximumBreakGlass bounds the file in bytes.
const maximumBreakGlass = 1 << 20

// ParseBreakGlass reads the file. Documented tells of a document, by its name as it is
// written, whether it is there.
func ParseBreakGlass(file string, content []byte, documented func(name string) bool) (*BreakGlass, error) {
	if len(content) > maximumBreakGlass {
		return nil, fmt.Errorf("%s: more than %d bytes", file, maximumBreakGlass)
	}
	var written struct {
		Paths []yaml.Node `yaml:"paths"`
	}
	if err := strict(content, &written); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	b := &BreakGlass{File: file}
	for i := range written.Paths {
		node := &written.Paths[i]
		way, err := parseWay(node, documented)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, node.Line, err)
		}
		way.Position = diagnostic.Position{File: file, Line: node.Line, Column: node.Column}
		b.Paths = append(b.Paths, way)
	}
	if len(b.Paths) == 0 {
		return nil, fmt.Errorf("%s: requires paths", file)
	}
	return b, nil
}

func parseWay(node *yaml.Node, documented func(name string) bool) (Way, error) {
	raw, err := yaml.Marshal(node)
	if err != nil {
		return Way{}, err
	}
	var written wayInFile
	if err := strict(raw, &written); err != nil {
		return Way{}, err
	}
	way := Way{Name: written.Name, Covers: written.Covers, Document: written.Document, Uses: written.Uses,
		Credentials: written.Credentials, Commands: written.Commands}
	if way.Name == "" {
		return Way{}, fmt.Errorf("requires name")
	}
	for _, command := range way.Commands {
		unshown := func(r rune) bool { return !unicode.IsPrint(r) }
		if strings.TrimSpace(command) == "" || strings.ContainsFunc(command, unshown) {
			return Way{}, fmt.Errorf("commands: %q is not one line of text", command)
		}
	}
	if way.Document != "" {
		way.Documented = documented(way.Document)
	}
	if date := written.Exercised.Value; date != "" {
		if way.Exercised, err = time.Parse(time.DateOnly, date); err != nil {
			return Way{}, fmt.Errorf("exercised: %q is no date such as 2026-10-01", date)
		}
	}
	return way, nil
}

// strict refuses what it doesn't know: a misspelt field would be a promise that nobody
// gave.
func strict(content []byte, into any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	return decoder.Decode(into)
}

// lacks is what keeps a way from being proven.
func (w Way) lacks(f *facts, components []string) []string {
	var lacks []string
	if !slices.Contains(w.Covers, "*") {
		if open := without(components, w.Covers); len(open) > 0 {
			lacks = append(lacks, "does not cover "+strings.Join(open, ", "))
		}
	}
	switch {
	case w.Document == "":
		lacks = append(lacks, "no document says how")
	case !w.Documented:
		lacks = append(lacks, "document "+w.Document+" not found, or empty")
	}
	if len(w.Uses) > 0 {
		lacks = append(lacks, "uses "+strings.Join(w.Uses, ", ")+", which may be what is broken")
	}
	switch secret := f.secretNamed(w.Credentials); {
	case strings.TrimSpace(w.Credentials) == "":
		lacks = append(lacks, "credentials not stated")
	case secret != "":
		lacks = append(lacks, "credentials are in Secret "+secret+", inside the cluster")
	}
	switch age := f.Options.Now.Sub(w.Exercised); {
	case w.Exercised.IsZero():
		lacks = append(lacks, "never exercised")
	case age < -24*time.Hour: // a day: dates have no time zone
		lacks = append(lacks, "exercised in the future: "+w.Exercised.Format(time.DateOnly))
	case age > f.Options.MaximumAge:
		lacks = append(lacks, fmt.Sprintf("last exercised %s, more than %d days ago", w.Exercised.Format(time.DateOnly),
			int(f.Options.MaximumAge.Hours()/24)))
	}
	return lacks
}

// secretNamed is a Secret of the manifests whose namespace/name is in a text.
func (f *facts) secretNamed(text string) string {
	for name := range f.Manifests.Secrets {
		if slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;:()\"'", r) }),
			name) {
			return name
		}
	}
	return ""
}

// proven is the way that is proven for some components; empty where none is.
func (b *BreakGlass) proven(f *facts, components []string) string {
	for _, way := range b.Paths {
		if len(way.lacks(f, components)) == 0 {
			return fmt.Sprintf("%s, exercised %s (%s)", way.Name, way.Exercised.Format(time.DateOnly), way.Position)
		}
	}
	return ""
}

// noExit is C2: a way around Prow must be documented, need no part of Prow, have
// credentials outside of the cluster, and have been exercised. One is enough; where none
// is proven, each says what it lacks. WARN, since C1 is ALERT then.
func noExit(f *facts) (finding.List, finding.Lack) {
	components := f.cyclic()
	if len(components) == 0 {
		return nil, nothing()
	}
	if f.BreakGlass == nil {
		return nil, notGiven("--break-glass")
	}
	if f.BreakGlass.proven(f, components) != "" {
		return nil, nothing()
	}
	var found finding.List
	for _, way := range f.BreakGlass.Paths {
		found = append(found, finding.Finding{Severity: finding.Warn, Position: way.Position,
			Subject:  finding.Subject{Detail: way.Name},
			Message:  fmt.Sprintf("the way around Prow %q is not proven", way.Name),
			Evidence: way.lacks(f, components),
			Mend:     "mend what it lacks; after an exercise write its day into exercised"})
	}
	return found, nothing()
}
