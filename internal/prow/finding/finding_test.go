package finding_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/diagnostic"
	"salve/internal/prow/finding"
)

func TestFindingsAreRefused(t *testing.T) {
	sound := finding.Finding{Rule: "B1", Severity: finding.Warn, Message: "m"}
	without := func(change func(*finding.Finding)) finding.List {
		f := sound
		change(&f)
		return finding.List{f}
	}
	for name, list := range map[string]finding.List{
		"without a severity":           without(func(f *finding.Finding) { f.Severity = "" }),
		"with a severity of nobody's":  without(func(f *finding.Finding) { f.Severity = "warn" }),
		"without a rule":               without(func(f *finding.Finding) { f.Rule = "" }),
		"without a message":            without(func(f *finding.Finding) { f.Message = "" }),
		"of which two are the same":    {sound, sound},
		"of which one is the zero one": {sound, {}},
	} {
		t.Run(name, func(t *testing.T) {
			for form, err := range map[string]error{
				"validate": list.Validate(),
				"github":   finding.GitHub(&bytes.Buffer{}, list),
				"sarif":    finding.SARIF(&bytes.Buffer{}, list, nil, diagnostic.Log{Root: "/"}),
			} {
				if err == nil {
					t.Errorf("%s takes it", form)
				}
			}
		})
	}
	if err := (finding.List{sound}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestWorstOfAList(t *testing.T) {
	list := func(severities ...finding.Severity) (l finding.List) {
		for _, s := range severities {
			l = append(l, finding.Finding{Rule: "B1", Severity: s, Message: "m"})
		}
		return l
	}
	for name, test := range map[string]struct {
		list finding.List
		want finding.Severity
		ok   bool
	}{
		"nothing found says nothing":     {nil, "", false},
		"unknown is worse than known":    {list(finding.OK, finding.Unknown, finding.Info), finding.Unknown, true},
		"a warning is worse than unsure": {list(finding.Warn, finding.Unknown), finding.Warn, true},
		"an alert is the worst":          {list(finding.Info, finding.Alert, finding.Warn), finding.Alert, true},
		"what is invalid hides nothing":  {list(finding.Alert, ""), "", true},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := test.list.Worst(); got != test.want || ok != test.ok {
				t.Errorf("got %q %v, want %q %v", got, ok, test.want, test.ok)
			}
		})
	}
}

func TestIdentityOutlivesWords(t *testing.T) {
	before := finding.Finding{Rule: "B1", Severity: finding.Warn, Message: "one",
		Position: diagnostic.Position{File: "a", Line: 3}, Subject: finding.Subject{Org: "o", Repo: "r", Context: "c"}}
	after := before
	after.Severity, after.Message, after.Position.Line, after.Evidence = finding.Alert, "two", 9, []string{"e"}
	if before.Identity() != after.Identity() {
		t.Error("the same thing got another identity")
	}
	after.Subject.Context = "d"
	if before.Identity() == after.Identity() {
		t.Error("another context has the same identity")
	}
}

func TestSubjectInWords(t *testing.T) {
	for want, subject := range map[string]finding.Subject{
		"":                                  {},
		"o":                                 {Org: "o"},
		"o/r=main context=unit job=j":       {Org: "o", Repo: "r", Branch: "main", Context: "unit", Job: "j"},
		"cluster=c namespace=n component=p": {Cluster: "c", Namespace: "n", Component: "p"},
		"a.yaml":                            {Detail: "a.yaml"},
	} {
		if got := subject.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTheWorstComesFirst(t *testing.T) {
	at := func(rule string, severity finding.Severity, file string, line int) finding.Finding {
		return finding.Finding{Rule: rule, Severity: severity, Message: "m",
			Position: diagnostic.Position{File: file, Line: line}}
	}
	list := finding.List{at("P1", finding.Info, "a", 1), at("C1", finding.Alert, "b", 9), at("B1", finding.Alert, "b", 10),
		at("B1", finding.Alert, "b", 9), at("B2", finding.Unknown, "a", 1)}
	list.Sort()
	var got []string
	for _, f := range list {
		got = append(got, f.Rule+" "+f.Position.String())
	}
	if want := []string{"B1 b:9:0", "B1 b:10:0", "C1 b:9:0", "B2 a:1:0", "P1 a:1:0"}; !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	if list.Count(finding.Alert) != 3 || list.Count(finding.Warn) != 0 {
		t.Error("counts differ")
	}
}

// TestGitHubReadsOneCommandALine: a message can't begin another command, nor end the
// properties of its own.
func TestGitHubReadsOneCommandALine(t *testing.T) {
	list := finding.List{
		{Rule: "B1", Severity: finding.Alert, Position: diagnostic.Position{File: "a,b:c.yaml", Line: 3, Column: 7},
			Subject: finding.Subject{Org: "o", Repo: "r", Context: "ci/a, b:c"},
			Message: "100% wrong\n::error::x", Evidence: []string{"seen"}, Mend: "mend\rit"},
		{Rule: "B2", Severity: finding.Unknown, Message: "m"},
		{Rule: "P1", Severity: finding.Info, Message: "m", Position: diagnostic.Position{File: "a.yaml"}},
		{Rule: "P4", Severity: finding.OK, Message: "not written"},
	}
	var got bytes.Buffer
	if err := finding.GitHub(&got, list); err != nil {
		t.Fatal(err)
	}
	want := `::error file=a%2Cb%3Ac.yaml,line=3,col=7,title=B1 o/r context=ci/a%2C b%3Ac::100%25 wrong%0A::error::x%0Aseen%0Amend: mend%0Dit
::warning title=B2::m
::notice file=a.yaml,title=P1::m
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestSARIFHasLevelsAndRules(t *testing.T) {
	list := finding.List{
		{Rule: "B1", Severity: finding.Alert, Position: diagnostic.Position{File: "/r/a.yaml", Line: 3, Column: 7},
			Subject: finding.Subject{Org: "o", Repo: "r"}, Message: "m", Evidence: []string{"e"}, Mend: "do"},
		{Rule: "B1", Severity: finding.Unknown, Message: "m"},
		{Rule: "B1", Severity: finding.Info, Message: "m", Subject: finding.Subject{Detail: "d"}},
		{Rule: "B1", Severity: finding.OK, Message: "m", Subject: finding.Subject{Detail: "ok"}},
	}
	var raw bytes.Buffer
	err := finding.SARIF(&raw, list, []diagnostic.Rule{{ID: "B1", Says: "s", Why: "w"}}, diagnostic.Log{Tag: "prow",
		Root: "/r"})
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Runs []struct {
			Results []struct {
				Level   string
				Message struct{ Text string }
			}
		}
	}
	if err := json.Unmarshal(raw.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	var levels []string
	for _, result := range log.Runs[0].Results {
		levels = append(levels, result.Level)
	}
	if want := []string{"error", "warning", "note"}; !cmp.Equal(levels, want) {
		t.Error(cmp.Diff(want, levels))
	}
	if text := log.Runs[0].Results[0].Message.Text; text != "o/r: m (e); do" {
		t.Errorf("%q", text)
	}
	if !strings.Contains(raw.String(), `"prow"`) {
		t.Error("the rules have no tag")
	}
}

func TestPrintable(t *testing.T) {
	list := finding.List{{Rule: "B1", Severity: finding.Info, Message: "a\x1b[31m", Evidence: []string{"b\n\x07"},
		Subject: finding.Subject{Context: "c\u202e"}}}
	got := list.Printable()[0]
	if got.Message != "a�[31m" || got.Evidence[0] != "b �" || got.Subject.Context != "c�" {
		t.Errorf("%+q", got)
	}
	if list[0].Evidence[0] != "b\n\x07" {
		t.Error("the original was changed")
	}
}

func TestVerdict(t *testing.T) {
	found := func(severity finding.Severity) finding.List {
		return finding.List{{Rule: "B1", Severity: severity, Message: "m"}}
	}
	for name, test := range map[string]struct {
		found   finding.List
		missing string
		want    finding.Severity
	}{
		"nothing found, all inputs there":          {nil, "", finding.OK},
		"nothing found, an input missing":          {nil, "needs --live", finding.Unknown},
		"information found, an input missing":      {found(finding.Info), "needs --live", finding.Unknown},
		"an alert stays one without another input": {found(finding.Alert), "needs --live", finding.Alert},
		"the worst counts":                         {found(finding.Warn), "", finding.Warn},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := finding.Judge("B1", test.found, finding.Lack{Reason: test.missing}); err != nil ||
				got.Severity != test.want {
				t.Errorf("%+v %v", got, err)
			}
		})
	}
	for name, wrong := range map[string]finding.List{
		"a finding without severity":   {{Rule: "B1", Message: "m"}},
		"a finding of another rule":    {{Rule: "B2", Severity: finding.Warn, Message: "m"}},
		"two findings of one identity": append(found(finding.Warn), found(finding.Alert)...),
	} {
		if _, err := finding.Judge("B1", wrong, finding.Lack{}); err == nil {
			t.Errorf("%s is judged", name)
		}
	}
}
