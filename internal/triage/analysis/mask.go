package analysis

import (
	"fmt"
	"strings"

	"salve/internal/redact"
	"salve/internal/triage/cause"
	"salve/internal/triage/scenario"
)

// masked is a text without what looks like a credential: evidence and histories are read by others.
func masked(text string) string { return redact.String(text) }

// maskedAll is a list, never nil, of such texts.
func maskedAll(texts []string) []string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = masked(text)
	}
	return list
}

// maskedRows are the same rows with other names and values of attributes, which stay different from each other.
func maskedRows(rows *cause.Rows) *cause.Rows {
	m := *rows
	m.Attributes = make([]cause.Attribute, len(rows.Attributes))
	names := map[string]bool{}
	for i, attribute := range rows.Attributes {
		of := cause.Attribute{Name: apart(masked(attribute.Name), names), Values: make([]string, len(attribute.Values))}
		values := map[string]bool{"": true}
		for v := 1; v < len(attribute.Values); v++ {
			of.Values[v] = apart(maskedValue(attribute.Name, attribute.Values[v]), values)
		}
		m.Attributes[i] = of
	}
	return &m
}

// apart is a text that no other one is equal to.
func apart(text string, known map[string]bool) string {
	different := text
	for n := 2; known[different]; n++ {
		different = fmt.Sprintf("%s (%d)", text, n)
	}
	known[different] = true
	return different
}

// maskedValue is a value as it is shown beside the name of its attribute, which may say that it is a credential.
func maskedValue(name, value string) string {
	label := name + "=" + value
	shown := masked(label)
	if shown == label {
		return masked(value)
	}
	if rest, ok := strings.CutPrefix(shown, name+"="); ok && rest != "" {
		return rest
	}
	return redact.Mark
}

// maskedPart is a part of a failure's text. Masking for grouping took what varies out of it: what is left of a
// credential has no credential's shape.
func maskedPart(text string, group *scenario.Group) string {
	if redact.Remains(text, group.Failure.Message, group.Failure.Text, group.Example.Text) {
		return redact.Mark
	}
	return masked(text)
}
