package runbooktest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"salve/runbook"
	"salve/runbook/runbooktest"
)

type lamp struct {
	Name  string   `json:"name"`
	Watts int      `json:"watts"`
	On    bool     `json:"on"`
	Rooms []string `json:"rooms"`
}

func glows(seen lamp) runbook.Finding {
	if seen.On && seen.Watts > 40 && len(seen.Rooms) > 0 {
		return runbook.Yes("it glows")
	}
	return runbook.No("it is dark")
}

// complaints is a test that collects what it is told.
type complaints struct {
	testing.TB
	said []string
}

func (c *complaints) Helper() {}
func (c *complaints) Errorf(format string, args ...any) {
	c.said = append(c.said, fmt.Sprintf(format, args...))
}

// TestSweepFindsWhatMakesNoDifference, and what is listed and does, or is in no reading.
func TestSweepFindsWhatMakesNoDifference(t *testing.T) {
	read := func(context.Context, runbook.Run) (lamp, error) { return lamp{}, nil }
	guard := runbook.Ask("glows", "does it glow?", read, glows)
	reading := []json.RawMessage{json.RawMessage(`{"name":"desk","watts":60,"on":true,"rooms":["study"]}`)}
	for name, row := range map[string]struct {
		unused map[string]string
		want   string
	}{
		"not listed":                {nil, "no value of name makes a difference"},
		"listed":                    {map[string]string{"name": "for evidence", "rooms[]": "only counted"}, ""},
		"listed and makes a change": {map[string]string{"name": "", "rooms[]": "", "on": ""}, "on is listed as unused"},
		"listed and not there":      {map[string]string{"name": "", "rooms[]": "", "bulb": ""}, "no reading has the unused"},
	} {
		told := &complaints{TB: t}
		runbooktest.SweepReadings(told, guard, reading, row.unused)
		found := slices.ContainsFunc(told.said, func(said string) bool { return strings.Contains(said, row.want) })
		if row.want == "" && len(told.said) > 0 || row.want != "" && !found {
			t.Errorf("%s: %v", name, told.said)
		}
	}
}
