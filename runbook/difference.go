package runbook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"salve/internal/redact"
)

// Difference is one field in which two plans differ. A side that lacks the field is
// empty.
type Difference struct {
	Field, Before, After string
}

// String is the difference in words: what the field was, and what it is now.
func (d Difference) String() string {
	switch {
	case d.Before == "":
		return fmt.Sprintf("%s: now %s, was absent", d.Field, shown(d.After))
	case d.After == "":
		return fmt.Sprintf("%s: was %s, now absent", d.Field, shown(d.Before))
	}
	return fmt.Sprintf("%s: was %s, now %s", d.Field, shown(d.Before), shown(d.After))
}

// Differences are the fields in which a plan differs from the one before, in the order
// of the plan: runbook, version, target, inputs, steps, evidence.
func Differences(before, after Plan) []Difference {
	var all []Difference
	field := func(name, before, after string) {
		if before != after {
			all = append(all, Difference{name, before, after})
		}
	}
	field("runbook", before.Runbook, after.Runbook)
	field("version", before.Version, after.Version)
	field("target", before.Target.ID, after.Target.ID)
	all = append(all, jsonDifferences("inputs", before.Inputs, after.Inputs)...)
	all = append(all, StepDifferences(before.Steps, after.Steps)...)
	return append(all, factDifferences(before.Evidence, after.Evidence)...)
}

// InputDifferences are the fields in which inputs differ from those of a plan, masked as they are there.
func (p Plan) InputDifferences(inputs json.RawMessage) []Difference {
	return jsonDifferences("inputs", p.Inputs, redact.JSON(inputs))
}

// StepDifferences are the fields in which the steps of two plans differ.
func StepDifferences(before, after []PlannedStep) []Difference {
	was, is := byName(before), byName(after)
	var all []Difference
	for _, step := range before {
		now, found := is[step.Name]
		if !found {
			all = append(all, Difference{"step " + step.Name, step.Changes, ""})
			continue
		}
		at := "step " + step.Name + "."
		if step.Changes != now.Changes {
			all = append(all, Difference{at + "changes", step.Changes, now.Changes})
		}
		if step.Irreversible != now.Irreversible {
			all = append(all, Difference{at + "irreversible", fmt.Sprint(step.Irreversible), fmt.Sprint(now.Irreversible)})
		}
		all = append(all, jsonDifferences(at+"inputs", step.Inputs, now.Inputs)...)
	}
	for _, step := range after {
		if _, found := was[step.Name]; !found {
			all = append(all, Difference{"step " + step.Name, "", step.Changes})
		}
	}
	if order := names(after); len(all) == 0 && names(before) != order {
		all = append(all, Difference{"order of steps", names(before), order})
	}
	return all
}

func byName(steps []PlannedStep) map[string]PlannedStep {
	named := map[string]PlannedStep{}
	for _, step := range steps {
		named[step.Name] = step
	}
	return named
}

func names(steps []PlannedStep) string {
	var all []string
	for _, step := range steps {
		all = append(all, step.Name)
	}
	return strings.Join(all, ", ")
}

// factDifferences compares facts of the same guard and source, in their order.
func factDifferences(before, after []Fact) []Difference {
	keyed := func(facts []Fact) (order []string, by map[string]Fact) {
		by = map[string]Fact{}
		for _, fact := range facts {
			key, n := strings.TrimSuffix(fact.Guard+" "+fact.Source, " "), 1
			for name := key; ; name = fmt.Sprintf("%s (%d)", key, n) {
				if _, taken := by[name]; !taken {
					order, by[name] = append(order, name), fact
					break
				}
				n++
			}
		}
		return order, by
	}
	order, was := keyed(before)
	added, is := keyed(after)
	var all []Difference
	for _, key := range order {
		old, now := was[key], is[key]
		at := at(key)
		if _, found := is[key]; !found {
			all = append(all, Difference{at, old.text(), ""})
			continue
		}
		if old.Answer != now.Answer {
			all = append(all, Difference{at + ".answer", string(old.Answer), string(now.Answer)})
		}
		if old.Identity != now.Identity {
			all = append(all, Difference{at + ".identity", old.Identity, now.Identity})
		}
		all = append(all, jsonDifferences(at, old.Value, now.Value)...)
	}
	for _, key := range added {
		if _, found := was[key]; !found {
			all = append(all, Difference{at(key), "", is[key].text()})
		}
	}
	return all
}

func at(key string) string { return "evidence " + key }

func (f Fact) text() string {
	if len(f.Value) > 0 {
		return string(f.Value)
	}
	return string(f.Answer)
}

// jsonDifferences goes down into objects, and compares what is in them as text.
func jsonDifferences(path string, before, after json.RawMessage) []Difference {
	before, after = compact(before), compact(after)
	if bytes.Equal(before, after) {
		return nil
	}
	var was, is map[string]json.RawMessage
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil || was == nil || is == nil {
		return []Difference{{path, string(before), string(after)}}
	}
	keys := maps.Clone(was)
	maps.Copy(keys, is)
	var all []Difference
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		all = append(all, jsonDifferences(path+"."+key, was[key], is[key])...)
	}
	return all
}

func compact(raw json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	return out.Bytes()
}

// mostShown bounds a value in a sentence.
const mostShown = 200

func shown(value string) string {
	if runes := []rune(value); len(runes) > mostShown {
		return string(runes[:mostShown]) + "…"
	}
	return value
}

// Unplanned tells whether a step is made with other inputs than planned, where the plan
// says something: what it left empty, a step before may have filled.
func Unplanned(planned, actual json.RawMessage) bool {
	return unplanned(planned, redact.JSON(actual))
}

func unplanned(planned, actual json.RawMessage) bool {
	planned, actual = compact(planned), compact(actual)
	if unsaid(planned) {
		return false
	}
	var was, is map[string]json.RawMessage
	if json.Unmarshal(planned, &was) != nil || json.Unmarshal(actual, &is) != nil {
		return !bytes.Equal(planned, actual)
	}
	keys := maps.Clone(was)
	maps.Copy(keys, is)
	for key := range keys {
		said, found := was[key]
		if !found && !unsaid(is[key]) || unplanned(said, is[key]) {
			return true
		}
	}
	return false
}

func unsaid(raw json.RawMessage) bool {
	return slices.Contains([]string{"", "null", `""`, "[]", "{}"}, string(raw))
}
