package pipeline

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"salve/internal/diagnostic"
)

// placeholder stands for an input variable in the files of a Helm step.
var placeholder = regexp.MustCompile(`__([A-Za-z][A-Za-z0-9_-]*?)__`)

// wholeValue is a line whose value is one placeholder, and nothing else.
var wholeValue = regexp.MustCompile(`^\s*(- )?\s*["']?[\w./-]+["']?:\s+["']?__[A-Za-z][A-Za-z0-9_-]*?__["']?\s*(#.*)?$`)

// othersNames are names between underscores that stand for nothing: labels of Prometheus and its kind, and words of
// Python.
var othersNames = regexp.MustCompile(`^((meta|param|tmp)(_.*)?|address|scheme|name|path|host|hostname|` +
	`instance|metrics_path|scrape_interval|scrape_timeout|replica|alert|label|value|line|timestamp|error|` +
	`error_details|main|init|file|doc|all|dict|class|version|future|pycache)$`)

// placeholders warns of what looks like an input variable in the files of Helm steps, and is none. Rollout tools
// replace those that the step has, and release everything else as it is.
func (v *validator) placeholders() {
	if v.in.FileOnly {
		return
	}
	for _, step := range v.steps {
		if step.Action.Value != ActionHelm {
			continue
		}
		var inputs []string
		for _, field := range step.Fields {
			if len(field.Path) == 2 && field.Path[0] == "inputVariables" {
				inputs = append(inputs, field.Path[1])
			}
		}
		for _, field := range step.Fields {
			named := field.Plain()
			if field.Path[0] != "valuesFile" && field.Path[0] != "namespaceFiles" || named == "" || templated(named) {
				continue
			}
			path := v.file.seen(named)
			content, err := ReadNamed(path)
			if err != nil {
				continue // that it isn't there has been said
			}
			v.placeholdersIn(step, path, string(content), inputs)
		}
	}
}

// placeholdersIn warns of each name once, where it is first.
func (v *validator) placeholdersIn(step *Step, path, text string, inputs []string) {
	seen := slices.Clone(inputs)
	number := 0
	for line := range strings.Lines(text) {
		number++
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for _, at := range placeholder.FindAllStringSubmatchIndex(line, -1) {
			name := line[at[2]:at[3]]
			if slices.Contains(seen, name) {
				continue
			}
			advice := v.spelling.DidYouMean(name, inputs)
			if advice == "" && !stands(name, line) {
				continue
			}
			seen = append(seen, name)
			place := diagnostic.Position{File: path, Line: number, Column: 1 + utf8.RuneCountInString(line[:at[0]])}
			if advice == "" {
				advice = "give the step an inputVariable of that name"
			}
			v.warn(step, place, "placeholder", advice,
				"__%s__ is released as it is, because the step has no inputVariable %q", name, name)
		}
	}
}

// stands tells whether a name between underscores is one that a step should replace: it is written as no other language
// writes such names, or is all that a field holds.
func stands(name, line string) bool {
	if othersNames.MatchString(name) {
		return false
	}
	mixed := strings.ToLower(name) != name && strings.ToUpper(name) != name
	return mixed || wholeValue.MatchString(strings.TrimRight(line, "\r\n"))
}
