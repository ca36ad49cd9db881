package catalogue_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"salve/internal/triage/catalogue"
	"salve/internal/triage/results"
)

const elastic = "../../../../shared/triage/elastic-recheck/"

// elasticCatalogue translates all signatures of elastic-recheck, and says why some can't be.
func elasticCatalogue(t *testing.T) (c *catalogue.Catalogue, total int, refused map[string]string) {
	t.Helper()
	raw, err := os.ReadFile(elastic + "signatures.json")
	if err != nil {
		t.Skip("the outside data isn't here:", err)
	}
	var all []struct{ Bug, YAML string }
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	tr := translation{kinds: map[string][]string{}, seen: map[string]int{}}
	refused = map[string]string{}
	for _, s := range all {
		if err := tr.signature(s.Bug, s.YAML); err != nil {
			refused[s.Bug] = err.Error()
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(tr.kinds)) {
		tr.out.Kinds = append(tr.out.Kinds, map[string]any{"kind": kind, "files": tr.kinds[kind]})
	}
	text, err := yaml.Marshal(tr.out)
	if err != nil {
		t.Fatal(err)
	}
	c, err = catalogue.Parse("elastic.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return c, len(all), refused
}

type translation struct {
	kinds map[string][]string // patterns of files
	seen  map[string]int
	out   struct {
		Kinds      []map[string]any `yaml:"kinds"`
		Signatures []map[string]any `yaml:"signatures"`
	}
}

func (tr *translation) signature(bug, text string) error {
	var entry struct{ Query string }
	if err := yaml.Unmarshal([]byte(text), &entry); err != nil {
		return err
	}
	parsed, err := query(entry.Query)
	if err != nil {
		return err
	}
	s := map[string]any{}
	var alternatives []map[string]any
	for _, conjunction := range parsed {
		condition, err := tr.condition(conjunction)
		if err != nil {
			return err
		}
		alternatives = append(alternatives, condition)
	}
	alternatives = merge(merge(alternatives, "build_name"), "kind")
	if len(alternatives) == 1 {
		s = alternatives[0]
	} else {
		for _, alternative := range alternatives {
			if alternative["anyOf"] != nil {
				return errors.New("two kinds of file at once, in an alternative")
			}
		}
		s["anyOf"] = alternatives
	}
	tr.seen[bug]++
	s["id"] = bug
	if n := tr.seen[bug]; n > 1 {
		s["id"] = fmt.Sprintf("%s-%d", bug, n)
	}
	s["class"] = "infrastructure"
	tr.out.Signatures = append(tr.out.Signatures, s)
	return nil
}

// merge makes one of alternatives that differ in the values of one attribute, or in their kind, alone.
func merge(alternatives []map[string]any, name string) []map[string]any {
	values := func(c map[string]any) *[]string {
		if kinds, ok := c[name].([]string); ok {
			return &kinds
		}
		if where, ok := c["where"].(map[string][]string); ok && len(where[name]) > 0 {
			list := where[name]
			return &list
		}
		return &[]string{}
	}
	set := func(c map[string]any, list []string) {
		if where, ok := c["where"].(map[string][]string); ok && len(where[name]) > 0 {
			where[name] = list
		} else if len(list) > 0 {
			c[name] = list
		}
	}
	var merged []map[string]any
	byRest := map[string]map[string]any{}
	for _, c := range alternatives {
		list := *values(c)
		set(c, []string{"?"}[:min(1, len(list))])
		rest := fmt.Sprint(c) // fmt sorts keys
		set(c, list)
		if had := byRest[rest]; had != nil && len(list) > 0 {
			set(had, slices.Compact(slices.Sorted(slices.Values(append(*values(had), list...)))))
			continue
		}
		byRest[rest] = c
		merged = append(merged, c)
	}
	return merged
}

// condition is one way for a signature to hold. The record of a log shipper is a line here, or a file where several
// texts are asked for: a record may be a stack trace. What the shipper took off the line, its module and level, is
// looked for on it.
func (tr *translation) condition(terms []term) (map[string]any, error) {
	var texts, not, kinds []string
	where, unless := map[string][]string{}, map[string][]string{}
	for _, t := range terms {
		value := strings.Join(strings.Fields(t.value), " ")
		switch {
		case value == "":
			return nil, errors.New("an empty value")
		case t.field == "tags" && value == "multiline":
			return nil, errors.New("asks for a record of several lines (tags:multiline): not a property of a file")
		case t.field == "tags" || t.field == "filename":
			if t.not {
				return nil, errors.New("NOT of a kind of file")
			}
			kinds = append(kinds, tr.kind(value))
		case strings.Contains(value, "''") && !strings.Contains(value, "`''"): // YAML's way to write one, left over
			texts = append(texts, strings.ReplaceAll(value, "''", "'"))
		case t.field == "message" || t.field == "module" || t.field == "loglevel" || t.field == "syslog_program":
			if t.not {
				not = append(not, value)
			} else {
				texts = append(texts, value)
			}
		case t.not:
			unless[t.field] = append(unless[t.field], value)
		case len(where[t.field]) > 0:
			return nil, fmt.Errorf("two values of %s at once", t.field)
		default:
			where[t.field] = []string{value}
		}
	}
	switch {
	case len(texts) == 0:
		return nil, errors.New("no text is asked for")
	}
	c := map[string]any{}
	if len(kinds) > 1 { // a file may be of several
		c["anyOf"] = []map[string]any{{"kind": kinds[1:]}}
		kinds = kinds[:1]
	}
	if len(not) > 0 {
		c["line"] = map[string]any{"all": texts, "none": not}
	} else {
		c["all"] = texts
	}
	if len(kinds) > 0 {
		c["kind"] = kinds
	}
	if len(where) > 0 {
		c["where"] = where
	}
	if len(unless) > 0 {
		c["unless"] = unless
	}
	return c, nil
}

// kind is a kind of file for each word that the log shipper tags files with.
func (tr *translation) kind(value string) string {
	patterns := map[string][]string{
		"console": {"console*", "job-output*"}, "screen": {"screen-*"},
	}[value]
	if pattern := strings.Replace(value, "logs*", "logs/**/", 1); patterns == nil && strings.Contains(pattern, ".") {
		patterns = []string{pattern}
	} else if patterns == nil {
		patterns = []string{pattern + "*"}
	}
	tr.kinds[value] = patterns
	return value
}

// TestRealSignaturesAreTranslated: the language holds what ten years of signatures asked for.
func TestRealSignaturesAreTranslated(t *testing.T) {
	c, total, refused := elasticCatalogue(t)
	for _, bug := range slices.Sorted(maps.Keys(refused)) {
		t.Logf("not translated: %s: %s", bug, refused[bug])
	}
	t.Logf("%d of %d signatures translated", len(c.All()), total)
	if len(c.All())+len(refused) < total || len(c.All()) < total*98/100 {
		t.Errorf("%d of %d signatures translated, %d refused", len(c.All()), total, len(refused))
	}
}

// record is a line, or several, of a log.
type record struct {
	Bug, Message                  string
	Filename, BuildName, Project  string
	Status, Queue, Branch, Change string
}

func elasticRecords(t *testing.T) []record {
	t.Helper()
	file, err := os.Open(elastic + "sample-lines.jsonl.gz")
	if err != nil {
		t.Skip("the outside data isn't here:", err)
	}
	defer file.Close()
	in, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []record
	for decoder := json.NewDecoder(in); decoder.More(); {
		var fields map[string]any
		if err := decoder.Decode(&fields); err != nil {
			t.Fatal(err)
		}
		text := func(name string) string {
			switch value := fields[name].(type) {
			case string:
				return value
			case []any:
				var lines []string
				for _, item := range value {
					lines = append(lines, fmt.Sprint(item))
				}
				return strings.Join(lines, "\n")
			}
			return ""
		}
		all = append(all, record{
			Bug: text("bug"), Message: text("message"), Filename: text("filename"), BuildName: text("build_name"),
			Project: text("project"), Status: text("build_status"), Queue: text("build_queue"),
			Branch: text("build_branch"), Change: text("build_change"),
		})
	}
	return all
}

func (r record) attributes() []results.Attribute {
	return []results.Attribute{
		{Name: "build_branch", Value: r.Branch}, {Name: "build_change", Value: r.Change},
		{Name: "build_name", Value: r.BuildName}, {Name: "build_queue", Value: r.Queue},
		{Name: "build_status", Value: r.Status}, {Name: "project", Value: r.Project},
	}
}

// TestRealSignaturesAreFoundOnTheirLines, on those that are known to be theirs. Files of samples are named after an
// older numbering.
func TestRealSignaturesAreFoundOnTheirLines(t *testing.T) {
	c, _, _ := elasticCatalogue(t)
	expected := map[string]string{
		"1229475": "1218391", "1232748": "1235486", "1239856": "1239637", "1284371": "1284371", "1217734": "1251784",
	}
	records, hit := map[string]int{}, map[string]int{}
	others := map[string]int{}
	observer := c.Observer()
	for _, r := range elasticRecords(t) {
		file := r.Filename
		if r.Bug == "1217734" && filepath.Base(file) == "console.html" {
			file = "logs/screen-n-cpu.txt" // what the signature is for; the lines were taken from elsewhere
		}
		o := observer.Observe(file)
		o.Text(1, []byte(r.Message))
		o.End()
		found := []catalogue.Found{c.Found(results.Case{Observation: o})}
		records[r.Bug]++
		for _, h := range c.Signatures(found, r.attributes(), "", today) {
			if h.Signature.ID == expected[r.Bug] {
				hit[r.Bug]++
			} else {
				others[fmt.Sprintf("lines of %s: %s (decides: %v)", r.Bug, h.Signature.ID, h.Decides())]++
			}
		}
	}
	theirs, all := 0, 0
	for _, bug := range slices.Sorted(maps.Keys(expected)) {
		t.Logf("signature %s on %d of %d lines of %s", expected[bug], hit[bug], records[bug], bug)
		theirs, all = theirs+hit[bug], all+records[bug]
	}
	if all == 0 || float64(theirs) < 0.99*float64(all) {
		t.Errorf("%d of %d lines show their signature", theirs, all)
	}
	overlaps := catalogue.Lint(c, catalogue.LintOptions{Now: today})
	t.Logf("lint tells of %d signatures that are always found with another one", len(overlaps))
	if len(overlaps) < 20 {
		t.Error("which is too few")
	}
	for _, line := range slices.Sorted(maps.Keys(others)) {
		t.Logf("cross-hit: %s × %d", line, others[line])
	}
}
