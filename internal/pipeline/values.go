package pipeline

// Refusal says why a field can't have a value; nil where it can.
type Refusal func(value string) error

// values asks, field by field, whether those that run an action would refuse a step's values: as far as they are known,
// and each element of a list for itself.
func (v *validator) values() {
	for _, step := range v.steps {
		refusals := v.in.Fields[step.Action.Value]
		if refusals == nil {
			continue
		}
		for _, field := range step.Fields {
			refuses := refusals[field.Path[0]]
			if refuses == nil || field.Literal == nil || v.in.Unread != nil && v.in.Unread(step, field.Path[0]) {
				continue
			}
			values, several := field.Literal.([]any)
			if !several {
				values = []any{field.Literal}
			}
			for _, value := range values {
				text := plain(value)
				if templated(text) {
					continue
				}
				if err := refuses(text); err != nil {
					v.add(step, field.At, "wrong-value", "", "%s: %s%v", field.Path[0], v.origin(field.Value), err)
				}
			}
		}
	}
}

// origin begins what is wrong with a value of the configuration: where in it the value is.
func (v *validator) origin(of Value) string {
	if of.ConfigRef.Value == "" || v.in.Config == nil {
		return ""
	}
	return of.ConfigRef.Value + " in " + v.in.Config.Path + ": "
}
