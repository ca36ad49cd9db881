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
			if refuses == nil || field.Literal == nil {
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
					v.add(step, field.At, "wrong-value", "", "%s: %v", field.Path[0], err)
				}
			}
		}
	}
}
