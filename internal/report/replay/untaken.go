package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"salve/journal"
)

// untaken lists the settings that no decision takes: neither the value that is asked about nor any of some others makes
// a guard answer or say something else. Such an input may choose what is read, and what would have been read then the
// record does not tell: that the decisions come out the same would be a false assurance.
func untaken(history *journal.History, options Options) ([]string, error) {
	if len(options.Set) == 0 {
		return nil, nil
	}
	before, err := found(history, history.Header.Inputs, options)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, setting := range options.Set {
		taken := false
		for _, value := range append(probes(history.Header.Inputs, setting.Field), setting.Value) {
			inputs, err := with(history.Header.Inputs, []Setting{{setting.Field, value}})
			if err != nil {
				continue
			}
			after, err := found(history, inputs, options)
			if err != nil {
				continue // the runbook refuses such a value
			}
			if taken = !bytes.Equal(before, after); taken {
				break
			}
		}
		if !taken {
			names = append(names, setting.Field)
		}
	}
	return names, nil
}

// found is what all guards find, words included.
func found(history *journal.History, inputs json.RawMessage, options Options) ([]byte, error) {
	book, err := options.Make(inputs)
	if err != nil {
		return nil, err
	}
	made, err := decisions(history, book)
	if err != nil {
		return nil, err
	}
	return json.Marshal(made)
}

// probes are values that might stand in an input's place.
func probes(inputs json.RawMessage, field string) []string {
	var value any
	if json.Unmarshal(valueAt(inputs, strings.Split(field, ".")), &value) != nil {
		return nil
	}
	switch value := value.(type) {
	case bool:
		return []string{fmt.Sprint(!value)}
	case float64:
		return []string{"0", "1", "1000000"}
	case string:
		if _, err := time.ParseDuration(value); err == nil {
			return []string{"0s", "1ns", "876000h"}
		}
		return []string{`""`, value + "x"}
	case []any, map[string]any:
		return []string{"null", "[]", "{}"}
	default: // null
		return []string{`""`, "1", "true"}
	}
}

// valueAt is a field of the inputs, in whatever case; nil where there is none.
func valueAt(raw json.RawMessage, path []string) json.RawMessage {
	var fields map[string]json.RawMessage
	if len(path) == 0 || json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	for name, value := range fields {
		if strings.EqualFold(name, path[0]) {
			return valueAt(value, path[1:])
		}
	}
	return nil
}
