package pipeline_test

import (
	"strings"
	"testing"

	"salve/internal/pipeline"
)

// TestTemplatesInComments: rollout tools fill in the whole text of a file, its comments too.
func TestTemplatesInComments(t *testing.T) {
	const warning = "warning: templates in comments are filled in too, and stop a rollout where they lead nowhere; " +
		"write comments without braces [template-in-comment]\n"
	for name, row := range map[string]struct{ text, want string }{
		"one that leads somewhere": {"# the group is {{ .a }}\n", "p.yaml:1:16: " + warning},
		"one that leads nowhere": {"#  {{ .b }}\n", "p.yaml:1:4: " + warning +
			`p.yaml:1:7: in a comment: b: the configuration has no "b" in config.yaml [missing-config]` + "\n"},
		"behind a value": {"rolloutName: 'x' # {{ .a }}\n", "p.yaml:1:20: " + warning},
		"a function that there is not": {"\n# {{ upper .a }}\n",
			`p.yaml:2:1: in a comment: function "upper" not defined [template]` + "\n"},
		"what is not closed": {"# {{ .a\n", "p.yaml:1:1: in a comment: unclosed action [template]\n"},
		"a condition over lines": {"# {{ if .a }}\nrevision: '1'\n# {{ end }}\n",
			"p.yaml:1:1: in a comment: a comment decides which lines the file has: {{if .a}} is more than a path " +
				"{{ .a.b }}; write the file without it [template]\n"},
		"a text in quotes is no comment": {"rolloutName: 'a # {{ .a }}'\n", ""},
		"a quote in quotes":              {`rolloutName: "a \" # {{ .a }}"` + "\n", ""},
		"a quote in a word":              {"rolloutName: it's # {{ .a }}\n", "p.yaml:1:21: " + warning},
		"a block of text is no comment":  {"rolloutName: |\n  # {{ .a }}\n", ""},
		"behind a block of text":         {"rolloutName: |\n  a\n\n# {{ .a }}\n", "p.yaml:4:3: " + warning},
		"no template":                    {"# {a: b}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := row.text + "serviceGroup: S\nresourceGroups: []\n"
			if !strings.Contains(text, "rolloutName: ") {
				text += "rolloutName: R\n"
			}
			file, found := pipeline.Parse("p.yaml", []byte(text))
			if len(found) > 0 {
				t.Fatal(lines(found))
			}
			_, found = pipeline.Validate(file, pipeline.Environment{Config: parseConfig(t, "a: '1'\n"), FileOnly: true})
			if got := lines(found); got != row.want {
				t.Errorf("got\n%swant\n%s", got, row.want)
			}
		})
	}
}

// TestTemplatesInCommentsWithoutConfiguration: where they lead is not known then, and not said.
func TestTemplatesInCommentsWithoutConfiguration(t *testing.T) {
	file, _ := pipeline.Parse("p.yaml", []byte("# {{ .b }}\nserviceGroup: S\nrolloutName: R\nresourceGroups: []\n"))
	_, found := pipeline.Validate(file, pipeline.Environment{FileOnly: true})
	if len(found) != 1 || !strings.Contains(lines(found), "[template-in-comment]") {
		t.Error(lines(found))
	}
}
