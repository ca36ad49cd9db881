package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"salve/internal/diagnostic"
	"salve/journal"
)

// Setting is an input that is asked about instead of the recorded one.
type Setting struct {
	// Field is the name of the input in the record, with dots between levels, in whatever case.
	Field string
	// Value is JSON, or a text that need not be quoted.
	Value string
}

// ParseSetting reads FIELD=VALUE.
func ParseSetting(text string) (Setting, error) {
	field, value, found := strings.Cut(text, "=")
	if !found || field == "" {
		return Setting{}, fmt.Errorf("invalid setting %q: want INPUT=VALUE, for example failureThreshold=5", text)
	}
	return Setting{field, value}, nil
}

// with gives inputs with other values. An input that there is not is an error: what nobody reads makes no difference.
func with(inputs json.RawMessage, settings []Setting) (json.RawMessage, error) {
	for _, setting := range settings {
		changed, err := set(inputs, strings.Split(setting.Field, "."), setting)
		if err != nil {
			return nil, err
		}
		inputs = changed
	}
	return inputs, nil
}

func set(raw json.RawMessage, path []string, setting Setting) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("setting %s: the inputs have no such level: %w", setting.Field, err)
	}
	names := slices.Sorted(maps.Keys(fields))
	i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, path[0]) })
	if i < 0 {
		return nil, fmt.Errorf("unknown input %q: the run has %s. %s", setting.Field, strings.Join(names, ", "),
			diagnostic.DidYouMean(path[0], names))
	}
	old := fields[names[i]]
	if len(path) > 1 {
		below, err := set(old, path[1:], setting)
		if err != nil {
			return nil, err
		}
		fields[names[i]] = below
	} else {
		fields[names[i]] = valueLike(old, setting.Value)
	}
	return json.Marshal(fields)
}

// ofAnotherForm says of an input that was set which form it has, in place of where a decoder stood.
func ofAnotherForm(err error) error {
	var form *json.UnmarshalTypeError
	if !errors.As(err, &form) {
		return err
	}
	name := form.Field[strings.LastIndexByte(form.Field, '.')+1:]
	return fmt.Errorf("input %s is a %s: want %s", name, form.Value, form.Type)
}

// valueLike reads a value in the form of the one whose place it takes: a text needs no quotes where a text stood.
func valueLike(old json.RawMessage, text string) json.RawMessage {
	isText := bytes.HasPrefix(bytes.TrimSpace(old), []byte(`"`))
	if !isText && json.Valid([]byte(text)) || isText && strings.HasPrefix(text, `"`) && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) // a text can always be encoded
	return quoted
}

// changes lists inputs that are not as recorded: those that were set, and those whose default is another now.
func changes(then json.RawMessage, now any) ([]Change, error) {
	raw, err := json.Marshal(now)
	if err != nil {
		return nil, fmt.Errorf("encoding the inputs: %w", err)
	}
	var list []Change
	compare(then, raw, "", &list)
	return list, nil
}

func compare(then, now json.RawMessage, path string, list *[]Change) {
	var thenFields, nowFields map[string]json.RawMessage
	if json.Unmarshal(then, &thenFields) != nil || json.Unmarshal(now, &nowFields) != nil ||
		thenFields == nil || nowFields == nil {
		if !equal(then, now) {
			*list = append(*list, Change{path, orAbsent(then), orAbsent(now)})
		}
		return
	}
	names := map[string]bool{}
	for name := range thenFields {
		names[name] = true
	}
	for name := range nowFields {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		compare(thenFields[name], nowFields[name], strings.TrimPrefix(path+"."+name, "."), list)
	}
}

func equal(a, b json.RawMessage) bool {
	var left, right any
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return len(a) == 0 && len(b) == 0
	}
	leftRaw, _ := json.Marshal(left)
	rightRaw, _ := json.Marshal(right)
	return bytes.Equal(leftRaw, rightRaw)
}

func orAbsent(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "absent"
	}
	return string(raw)
}

// explain finds, for each guard that differs, the first changed input that alone makes the difference.
func explain(result *Result, history *journal.History, options Options) error {
	for _, change := range result.Inputs {
		inputs, err := with(history.Header.Inputs, []Setting{{change.Field, change.New}})
		if err != nil {
			continue // it is there now and was not then: it can't be taken out alone
		}
		book, err := options.Make(inputs)
		if err != nil {
			continue // it makes no sense without the others
		}
		alone, err := decisions(history, book)
		if err != nil {
			return err
		}
		for i := range result.Decisions {
			for j := range result.Decisions[i].Guards {
				guard := &result.Decisions[i].Guards[j]
				if guard.State != Different || guard.Because != nil || i >= len(alone) || j >= len(alone[i].Guards) {
					continue
				}
				if one := alone[i].Guards[j]; one.State == Different && one.answer() == guard.answer() {
					guard.Because = &change
				}
			}
		}
	}
	conclude(result)
	return nil
}
