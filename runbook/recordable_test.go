package runbook_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"salve/runbook"
)

type (
	hidden   struct{ watts int }
	embedded struct{ Name string }
	twice    struct {
		embedded
		Other string `json:"Name"`
	}
	pointed struct{ *embedded }
	shared  struct{ *Shared }
	named   struct {
		*Shared `json:"shared"`
	}
	// Shared is embedded under a name.
	Shared struct{ On bool }
	open   struct{ Any any }
	acting struct{ Do func() }
	failed struct{ Err error }
	nested struct {
		Lamps map[string][]hidden `json:"lamps"`
	}
	chain struct {
		Next *chain `json:"next"`
	}
	fine struct {
		At     time.Time        `json:"at"`
		Failed *runbook.Failure `json:"failed"`
		secret string           `json:"-"`
		Bytes  []byte
		embedded
	}
)

// TestWhatIsReadHasToBeAValue: what would not be the same when it is read back from a record is refused, by name.
func TestWhatIsReadHasToBeAValue(t *testing.T) {
	_, _ = fine{secret: ""}, hidden{watts: 1}
	for name, row := range map[string]struct {
		guard runbook.Guard
		want  string
	}{
		"a field that is not exported":  {asking[hidden](), "field watts of runbook_test.hidden is not exported"},
		"one within lists and maps":     {asking[nested](), "field Lamps.watts of runbook_test.hidden"},
		"a name that is there twice":    {asking[twice](), `has the name "Name" twice`},
		"an embedded pointer":           {asking[pointed](), "embedded without a JSON name"},
		"one to an exported type":       {asking[shared](), "embedded without a JSON name"},
		"an embedded pointer by a name": {asking[named](), ""},
		"an interface":                  {asking[open](), "is not a value"},
		"a function":                    {asking[acting](), "is not a value"},
		"an error":                      {asking[failed](), "field Err error is not a value"},
		"a type that holds itself":      {asking[chain](), ""},
		"what is fine":                  {asking[fine](), ""},
		"a number":                      {asking[int](), ""},
	} {
		book := valid()
		book.Guards = []runbook.Guard{row.guard}
		err := book.Validate()
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// asking is a guard that reads a type.
func asking[T any]() runbook.Guard {
	return runbook.Ask("asks", "?", func(context.Context, runbook.Run) (seen T, _ error) { return seen, nil },
		func(T) runbook.Finding { return runbook.Yes("seen") })
}
