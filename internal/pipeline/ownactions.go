package pipeline

import (
	"salve/internal/diagnostic"
	"salve/internal/pipeline/schema"
)

// programs says which actions are not of the schema, and what runs them.
func (v *validator) programs() {
	if v.in.Programs == nil {
		return
	}
	said := map[string]bool{}
	for _, step := range v.steps {
		action := step.Action
		if action.Value == "" || said[action.Value] || schema.Known(action.Value) || !v.file.in.isOwn(action.Value) {
			continue // of one that nobody knows Parse has said so
		}
		said[action.Value] = true
		path, err := v.in.Programs(action.Value)
		if err != nil {
			v.add(step, action.At, "own-action", "", "action %q is not in the schema, and its program can't be used: %v",
				action.Value, err)
			continue
		}
		v.add(step, action.At, "own-action", "", "action %q is not in the schema: it is run by the program %s, which alone "+
			"knows its fields", action.Value, path)
		v.found[len(v.found)-1].Severity = diagnostic.Note
	}
}

func (r *reading) isOwn(action string) bool { return r.own != nil && r.own(action) }
