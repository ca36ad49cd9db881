package configuration_test

import (
	"strings"
	"testing"

	"salve/internal/pipeline/configuration"
)

// rulesOf is a schema whose property has one rule.
func rulesOf(rule string) string {
	return `{"properties": {"cluster": {"type": "object", "x-cel-validations": [{"rule": "` +
		strings.ReplaceAll(rule, `"`, `\"`) + `", "message": "the cluster is not as it must be"}]}}}`
}

func TestRules(t *testing.T) {
	cluster := map[string]any{
		"version": "1.34.2", "next": "v1.35.0-rc.1", "nodes": 5.0, "names": []any{"a", "b"}, "on": true,
	}
	const broken = "cluster: the cluster is not as it must be"
	for rule, says := range map[string]string{
		`self.on == true`:                          "",
		`self.on == false`:                         broken,
		`self.nodes >= 3`:                          "",
		`self.nodes < 3`:                           broken,
		`self.names.all(n, n != "c")`:              "",
		`self.names.exists(n, n == "c")`:           broken,
		`self.version.startsWith("1.34")`:          "",
		`semver(self.version) < semver(self.next)`: "",
		`semver(self.version) <= semver("1.34.2")`: "",
		`semver(self.version) > semver(self.next)`: broken,
		`semver(self.version) >= semver("1.34.3")`: broken,
		`semver(self.next).major() == 1 && semver(self.next).minor() == 35 && semver(self.next).patch() == 0`: "",
		`semver(self.version).compareTo(semver(self.next)) == -1`:                                             "",
		`semver("v1.2.3") == semver("1.2.3")`:                                                                 "",
		`isSemver(self.next) && !isSemver("1.x")`:                                                             "",
		`self.missing == 1`:             "no such key: missing",
		`semver("x") < semver("1.2.3")`: `"x" is no semantic version`,
		`self.nodes`:                    "",
	} {
		t.Run(rule, func(t *testing.T) {
			rendered := &configuration.Rendered{Values: map[string]any{"cluster": cluster}}
			found, err := rendered.Validate("config.yaml", write(t, "schema.json", rulesOf(rule)))
			switch {
			case rule == `self.nodes`:
				if err == nil || !strings.Contains(err.Error(), "must give true or false") {
					t.Errorf("got %v, %v", found, err)
				}
			case err != nil:
				t.Error(err)
			case says == "" && len(found) > 0, says != "" && (len(found) != 1 || !strings.Contains(found[0].Message, says)):
				t.Errorf("found %v, want %q", found, says)
			}
		})
	}
}

// TestRulesThatAreNone make the schema one that nobody can use: they are not passed over.
func TestRulesThatAreNone(t *testing.T) {
	for schema, says := range map[string]string{
		`{"x-cel-validations": {}}`:                                   "must be a list",
		`{"x-cel-validations": [{"rule": "true"}]}`:                   "needs the texts rule and message",
		`{"x-cel-validations": [{"rule": "self.", "message": "m"}]}`:  "Syntax error",
		`{"x-cel-validations": [{"rule": "self()", "message": "m"}]}`: "undeclared reference",
		`{"x-cel-validations": [1]}`:                                  "x-cel-validations[0]",
	} {
		rendered := &configuration.Rendered{Values: map[string]any{}}
		if _, err := rendered.Validate("config.yaml", write(t, "schema.json", schema)); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: want %q: %v", schema, says, err)
		}
	}
}

// TestARuleWithoutEnd is given up: a schema may come from elsewhere.
func TestARuleWithoutEnd(t *testing.T) {
	many := make([]any, 3000)
	for i := range many {
		many[i] = 1.0
	}
	rendered := &configuration.Rendered{Values: map[string]any{"cluster": map[string]any{"names": many}}}
	rule := `self.names.all(a, self.names.all(b, self.names.all(c, a == b && b == c)))`
	found, err := rendered.Validate("config.yaml", write(t, "schema.json", rulesOf(rule)))
	if err != nil || len(found) != 1 || !strings.Contains(found[0].Message, "cost limit exceeded") {
		t.Errorf("found %v, %v", found, err)
	}
}
