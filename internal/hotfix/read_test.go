package hotfix_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/hotfix"
)

// TestPointers reads each pointer from a file, as a node does.
func TestPointers(t *testing.T) {
	for _, row := range pointers {
		t.Run(row.name, func(t *testing.T) {
			expect(t, row.node(), row.pointer, row.want, row.scripts)
		})
	}
}

func TestEveryRuleHasItsRow(t *testing.T) {
	if rows := len(twoVersions) + len(pointers); rows < 120 {
		t.Errorf("%d rows", rows)
	}
	seen := map[string]bool{}
	for _, row := range pointers {
		if seen[row.name] {
			t.Errorf("two rows are called %q", row.name)
		}
		seen[row.name] = true
	}
}

// TestWarnings names the field of each authoring error, and says nothing of what
// is well.
func TestWarnings(t *testing.T) {
	for pointer, want := range map[string]string{
		`{"version": "202604.01.2", "comment": 1}`:                               "",
		`{"version": "latest"}`:                                                  "version",
		`{"version": "1", "version": "2"}`:                                       "version",
		`{"comment": 1, "comment": 2}`:                                           "comment",
		`{"scripts_version": 3, "hotfixes": {"202605.01": 1, "202606.01": ""}}`:  `scripts_version, hotfixes["202605.01"]`,
		`{"hotfixes": {"20": "202604.01.2"}}`:                                    `hotfixes["20"]`,
		`{"hotfixes": {"202604.01": "202604.01.2", "202604.01": "202604.01.2"}}`: `hotfixes["202604.01"]`,
		`{"hotfixes": []}`:                                                       "hotfixes",
		`{"hotfixes": {"` + strings.Repeat("x", 1000) + `": ""}}`: `hotfixes["` + strings.Repeat("x", 60) +
			`"…]`,
		`{"hotfixes": {"202604.01": "` + strings.Repeat("\u00e9", 1000) + `"}}`: `hotfixes["202604.01"]`,
	} {
		decision := hotfix.DecideByFile("202604.01.1", file(t, pointer))
		var fields []string
		for _, warning := range decision.Warnings {
			fields = append(fields, warning.Field)
			if len(warning.Problem) > 400 {
				t.Errorf("a warning of %d bytes", len(warning.Problem))
			}
		}
		if got := strings.Join(fields, ", "); got != want {
			t.Errorf("%.100s: warned of %s, want %s", pointer, got, want)
		}
	}
}

func TestManyWarningsAreCut(t *testing.T) {
	pointer := `{"hotfixes": {"202604.01": "202604.01.2"`
	for i := range 3000 {
		pointer += fmt.Sprintf(`, "%d": 1`, i)
	}
	decision := hotfix.DecideByFile("202604.01.1", file(t, pointer+"}}"))
	if len(decision.Warnings) != 101 || decision.Wanted() != "202604.01.2" {
		t.Errorf("%d warnings, %s", len(decision.Warnings), decision.Reason)
	}
}

// TestTheDocument is what scripts read: its fields are always there.
func TestTheDocument(t *testing.T) {
	for pointer, want := range map[string]string{
		`{"version": "202604.01.2"}`: `{"schemaVersion":1,"current":"202604.01.1","action":"install","target":"202604.01.2","scripts":{"action":"none","target":null},"reason":"install","warnings":[]}`,
		`{}`:                         `{"schemaVersion":1,"current":"202604.01.1","action":"none","target":null,"scripts":{"action":"none","target":null},"reason":"no-version","warnings":[]}`,
	} {
		got, err := json.Marshal(hotfix.DecideByFile(" 202604.01.1 ", file(t, pointer)))
		check(t, err)
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// expect decides by a file and checks what follows.
func expect(t *testing.T, current, pointer, want, scripts string) {
	t.Helper()
	decision := hotfix.DecideByFile(current, file(t, pointer))
	got := string(decision.Reason)
	if decision.Action == hotfix.Install {
		got = decision.Wanted()
	}
	if got != want || (decision.Action == hotfix.Install) != (decision.Reason == hotfix.ReasonInstall) {
		t.Errorf("%.200s: %s %s (%s), want %s", pointer, decision.Action, got, decision.Reason, want)
	}
	gotScripts := ""
	if decision.Scripts.Target != nil {
		gotScripts = *decision.Scripts.Target
	}
	if gotScripts != scripts || (decision.Scripts.Action == hotfix.Install) != (scripts != "") {
		t.Errorf("%.200s: scripts %s %s, want %s", pointer, decision.Scripts.Action, gotScripts, scripts)
	}
}

func file(t *testing.T, contents string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pointer.json")
	check(t, os.WriteFile(path, []byte(contents), 0o600))
	return path
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
