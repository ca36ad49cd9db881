package diagnostic_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/diagnostic"
)

func TestText(t *testing.T) {
	list := diagnostic.List{
		{Position: diagnostic.Position{File: "b.yaml", Line: 2, Column: 1}, Severity: diagnostic.Error, Rule: "cycle",
			Message: "a \x1b[31mring\nof two"},
		{Position: diagnostic.Position{File: "a.yaml", Line: 10, Column: 1}, Severity: diagnostic.Warning,
			Rule: "retry-never",
			Step: "fleet/cluster", Message: "never", Advice: "name errors"},
		{Position: diagnostic.Position{File: "a.yaml", Line: 9, Column: 7}, Severity: diagnostic.Error, Rule: "unknown-field",
			Message: "no such field"},
		{Position: diagnostic.Position{File: "a.yaml"}, Severity: diagnostic.Error, Rule: "yaml-size", Message: "too large"},
	}
	list.Sort()
	var got bytes.Buffer
	if err := diagnostic.Text(&got, list); err != nil {
		t.Fatal(err)
	}
	want := `a.yaml: too large [yaml-size]
a.yaml:9:7: no such field [unknown-field]
a.yaml:10:1: warning: step fleet/cluster: never; name errors [retry-never]
b.yaml:2:1: a �[31mring of two [cycle]
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
	if list.Errors() != 3 {
		t.Errorf("%d errors, want 3", list.Errors())
	}
}

// TestSARIF holds the log against what GitHub's code scanning requires: version and
// schema, a rule with texts for each result, one location with a relative URI and
// both ends of a region, and a fingerprint that stays when lines move.
func TestSARIF(t *testing.T) {
	rules := []diagnostic.Rule{{ID: "unknown-field", Says: "Fields are known.", Why: "Or else."},
		{ID: "cycle", Says: "No cycles.", Why: "Never."}}
	at := func(line int) diagnostic.Diagnostic {
		return diagnostic.Diagnostic{
			Position: diagnostic.Position{File: "/repository/a folder/ü.yaml", Line: line, Column: 3},
			Severity: diagnostic.Warning,
			Rule:     "cycle", Step: "fleet/cluster", Message: "a cycle", Advice: "break it",
		}
	}
	whole := diagnostic.Diagnostic{Position: diagnostic.Position{File: "/elsewhere/p.yaml"}, Severity: diagnostic.Error,
		Rule: "unknown-field", Message: "m"}
	note := at(12)
	note.Severity = diagnostic.Note
	log := render(t, diagnostic.List{at(4), at(9), whole, note}, rules)
	if log.Version != "2.1.0" || !strings.Contains(log.Schema, "sarif-2.1.0") || len(log.Runs) != 1 ||
		log.Runs[0].ColumnKind != "unicodeCodePoints" {
		t.Errorf("%+v", log)
	}
	driver, results := log.Runs[0].Tool.Driver, log.Runs[0].Results
	if driver.Name != "salve" || driver.Version != "1.2.3" || driver.Rules[0].Properties.Tags[0] != "pipeline" ||
		results[3].Level != "note" || len(driver.Rules) != 2 || driver.Rules[1].Help.Text == "" {
		t.Errorf("%+v", driver)
	}
	first := results[0]
	if first.RuleID != "cycle" || driver.Rules[first.RuleIndex].ID != "cycle" || first.Level != "warning" ||
		first.Message.Text != "step fleet/cluster: a cycle; break it" {
		t.Errorf("%+v", first)
	}
	where := first.Locations[0].PhysicalLocation
	if where.ArtifactLocation.URI != "a%20folder/%C3%BC.yaml" || where.Region != (region{4, 3, 4, 4}) {
		t.Errorf("%+v", where)
	}
	if where := results[2].Locations[0].PhysicalLocation; where.ArtifactLocation.URI != "file:///elsewhere/p.yaml" ||
		where.Region != (region{1, 1, 1, 2}) {
		t.Errorf("%+v", where)
	}
	prints := map[string]bool{}
	for _, result := range results {
		prints[result.Fingerprints["primaryLocationLineHash"]] = true
	}
	moved := render(t, diagnostic.List{at(40), at(90), whole}, rules).Runs[0].Results
	for _, result := range moved {
		if hash := result.Fingerprints["primaryLocationLineHash"]; hash == "" || !prints[hash] {
			t.Errorf("the fingerprint %q is new, though only lines have moved", hash)
		}
	}
	if len(prints) != 4 {
		t.Errorf("%d fingerprints of 4 results", len(prints))
	}
}

func TestNothingWrongIsAnEmptyList(t *testing.T) {
	var got bytes.Buffer
	if err := diagnostic.SARIF(&got, nil, nil, diagnostic.Log{Root: "/"}); err != nil || !strings.Contains(got.String(), `"results": []`) {
		t.Errorf("%v\n%s", err, got.String())
	}
}

type region struct{ StartLine, StartColumn, EndLine, EndColumn int }

type sarif struct {
	Schema  string `json:"$schema"`
	Version string
	Runs    []struct {
		ColumnKind string
		Tool       struct {
			Driver struct {
				Name, Version string
				Rules         []struct {
					ID         string
					Help       struct{ Text string }
					Properties struct{ Tags []string }
				}
			}
		}
		Results []struct {
			RuleID    string
			RuleIndex int
			Level     string
			Message   struct{ Text string }
			Locations []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI, URIBaseID string }
					Region           region
				}
			}
			Fingerprints map[string]string `json:"partialFingerprints"`
		}
	}
}

func render(t *testing.T, list diagnostic.List, rules []diagnostic.Rule) sarif {
	t.Helper()
	var raw bytes.Buffer
	if err := diagnostic.SARIF(&raw, list, rules,
		diagnostic.Log{Tag: "pipeline", Root: "/repository", Version: "1.2.3"}); err != nil {
		t.Fatal(err)
	}
	var log sarif
	if err := json.Unmarshal(raw.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	return log
}

func TestDidYouMean(t *testing.T) {
	known := []string{"dependsOn", "externalDependsOn", "name", "action", "Shell", "upgrade", "ARM"}
	for name, want := range map[string]string{
		"dependson": "dependsOn", "depndsOn": "dependsOn", "dependsNo": "dependsOn", "shell": "Shell", "upgarde": "upgrade",
		"arm": "ARM",
		"nam": "name", "colour": "", "x": "", "": "", "dependencies": "",
	} {
		got := diagnostic.DidYouMean(name, known)
		if want != "" {
			want = `did you mean "` + want + `"?`
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// TestMessagesAreBounded: a value of any length is not said whole, in no form of the list; its end is.
func TestMessagesAreBounded(t *testing.T) {
	long := strings.Repeat("ü", 120_000)
	list := diagnostic.List{{Position: diagnostic.Position{File: "a.yaml", Line: 1, Column: 1}, Severity: diagnostic.Error,
		Rule: "wrong-value", Step: long, Message: long + ": it must be short", Advice: long}}
	var text, sarif bytes.Buffer
	if err := diagnostic.Text(&text, list); err != nil {
		t.Fatal(err)
	}
	if err := diagnostic.SARIF(&sarif, list, []diagnostic.Rule{{ID: "wrong-value"}}, diagnostic.Log{}); err != nil {
		t.Fatal(err)
	}
	document, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	for form, said := range map[string]string{"text": text.String(), "sarif": sarif.String(), "json": string(document)} {
		if len(said) > 10_000 || !strings.Contains(said, "ü … (119018 characters are left out) … ü") ||
			!strings.Contains(said, "ü: it must be short") {
			t.Errorf("%s: %d bytes", form, len(said))
		}
	}
}
