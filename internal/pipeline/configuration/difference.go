package configuration

import (
	"encoding/json"
	"maps"
	"slices"
)

// Difference is a value that two configurations don't have in common.
type Difference struct {
	// Path is dotted.
	Path string `json:"path"`
	// Before and After are JSON; empty where there is no such value.
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// Differences are those of two configurations, by their paths. Lists are compared as a whole.
func Differences(before, after map[string]any) ([]Difference, error) {
	return differences("", before, after)
}

func differences(prefix string, before, after map[string]any) ([]Difference, error) {
	var all []Difference
	names := slices.Sorted(maps.Keys(before))
	for name := range after {
		if _, known := before[name]; !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		was, there := before[name]
		is, left := after[name]
		below, wasMapping := was.(map[string]any)
		above, isMapping := is.(map[string]any)
		if wasMapping && isMapping {
			inside, err := differences(prefix+name+".", below, above)
			if err != nil {
				return nil, err
			}
			all = append(all, inside...)
			continue
		}
		one := Difference{Path: prefix + name}
		for _, side := range []struct {
			there bool
			value any
			into  *json.RawMessage
		}{{there, was, &one.Before}, {left, is, &one.After}} {
			if !side.there {
				continue
			}
			encoded, err := json.Marshal(side.value)
			if err != nil {
				return nil, err
			}
			*side.into = encoded
		}
		if string(one.Before) != string(one.After) {
			all = append(all, one)
		}
	}
	return all, nil
}
