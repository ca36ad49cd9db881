package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"salve/runbook"
)

// Plan writes a plan: numbered steps, what each changes and with which inputs,
// the point of no return, and the digest.
func Plan(out io.Writer, width int, plan runbook.Plan) error {
	s := &textWriter{width: width}
	s.paint(Strong, "Plan:")
	s.hang("Plan: ", fmt.Sprintf("%s (version %s) on %s %s", plan.Runbook, plan.Version, plan.Target.Kind,
		plan.Target.Name))
	s.line("")
	var names []string
	for _, step := range plan.Steps {
		names = append(names, step.Name)
	}
	column := widest(0, names...)
	passed := false
	for i, step := range plan.Steps {
		if step.Irreversible && !passed {
			passed = true
			s.paint(Doubtful, noReturn+": from here on nothing is undone")
			s.hang("  ── ", noReturn+": from here on nothing is undone ──")
		}
		lead := fmt.Sprintf("%3d  %s  ", i+1, pad(step.Name, column))
		s.hang(lead, step.Changes)
		indent := strings.Repeat(" ", 5+column+2)
		flat, nested := apart(step.Inputs)
		if inputs := pairs(flat, whole); inputs != "" {
			s.hang(indent, "with "+inputs)
		}
		for _, one := range nested {
			s.hang(indent+"  ", one)
		}
	}
	s.line("")
	s.hang("", fmt.Sprintf("Digest %s: the same state of the world gives the same digest.", plan.Digest))
	return s.flush(out)
}

// noReturn is what stands in the line between what is undone and what isn't.
const noReturn = "the point of no return"

// pairs writes a JSON object as "key value, key value"; what isn't an object as
// it is.
func pairs(raw json.RawMessage, room int) string {
	var object map[string]json.RawMessage
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &object) != nil {
		return strings.TrimPrefix(string(raw), "null")
	}
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(object)) {
		value := strings.Trim(legible(object[key]), `"`)
		if value == "null" {
			value = "not known yet"
		}
		parts = append(parts, key+" "+tail(value, room))
	}
	return strings.Join(parts, ", ")
}

// legible is a value with <, > and & as people write them, which a record escapes.
func legible(raw json.RawMessage) string {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if decoder.Decode(&value) != nil || encoder.Encode(value) != nil {
		return string(raw)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// apart takes those values out of a JSON object that are objects of objects, such as the steps of what is rolled out,
// and gives each of their members as a text.
func apart(raw json.RawMessage) (flat json.RawMessage, nested []string) {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return raw, nil
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		var members map[string]map[string]json.RawMessage
		if json.Unmarshal(object[key], &members) != nil || len(members) == 0 {
			continue
		}
		delete(object, key)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			member, _ := json.Marshal(members[name]) // it was JSON before
			nested = append(nested, name+": "+pairs(member, whole))
		}
	}
	if len(nested) == 0 {
		return raw, nil
	}
	flat, _ = json.Marshal(object)
	return flat, nested
}

// whole leaves values as long as they are.
const whole = 0

// tail cuts a long value at its front: IDs differ at their ends.
func tail(value string, room int) string {
	runes := []rune(value)
	if room == whole || len(runes) <= room {
		return value
	}
	return "…" + string(runes[len(runes)-room+1:])
}
