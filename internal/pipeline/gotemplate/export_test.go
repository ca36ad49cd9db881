package gotemplate

import "time"

// ExecuteWithin lets tests be less patient.
func (t *Template) ExecuteWithin(data any, patience time.Duration) (string, error) {
	return t.executeWithin(data, patience)
}
