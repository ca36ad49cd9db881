package triage_test

import (
	"reflect"
	"strings"
	"testing"

	"salve/internal/triage"
)

// TestEachThresholdHasANameOfItsOwn, and another value of it is another value of one field alone.
func TestEachThresholdHasANameOfItsOwn(t *testing.T) {
	usual := triage.Default()
	names := map[string]bool{}
	fields := map[string]string{}
	for _, n := range usual.Named() {
		if names[n.Name] || n.Meaning == "" || n.Value < n.Least || n.Value > n.Most {
			t.Errorf("%+v", n)
		}
		names[n.Name] = true
		other, err := usual.With(n.Name, n.Most)
		if err != nil {
			t.Fatal(err)
		}
		if other.Values()[n.Name] != n.Most {
			t.Errorf("%s is %g, want %g", n.Name, other.Values()[n.Name], n.Most)
		}
		for i := range reflect.TypeFor[triage.Thresholds]().NumField() {
			if !reflect.ValueOf(usual).Field(i).Equal(reflect.ValueOf(other).Field(i)) {
				field := reflect.TypeFor[triage.Thresholds]().Field(i).Name
				if fields[field] != "" || names[fields[field]] {
					t.Errorf("%s is of %s and %s", field, fields[field], n.Name)
				}
				fields[field] = n.Name
			}
		}
	}
	if got := reflect.TypeFor[triage.Thresholds]().NumField(); got != len(names) || len(fields) != got {
		t.Errorf("%d fields, %d names, %d fields with a name", got, len(names), len(fields))
	}
	if usual != triage.Default() {
		t.Error("the usual ones were changed")
	}
}

func TestThresholdsArePrintedWithTheirUnit(t *testing.T) {
	changed, err := triage.Default().With("unknown", 0.07)
	if err != nil {
		t.Fatal(err)
	}
	var printed []string
	for _, one := range changed.List() {
		printed = append(printed, one.Name+" "+one.Value)
	}
	got := strings.Join(printed, " · ")
	for _, want := range []string{
		"eligible 3 ·", "unknown 7 % ·", "all-reach 0.0001 ·", "baseline 24 h ·", "order 10 min ·",
		"other-reason 50 % ·", "escalate 6 · escalate-days 30 days · calm 3",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
}

func TestValuesOfThresholdsMakeSense(t *testing.T) {
	for name, row := range map[string]struct {
		name  string
		value float64
		want  string
	}{
		"a threshold that there is not": {"watts", 3, `unknown threshold "watts"`},
		"a share above all":             {"alias", 1.01, "threshold alias of 101 %: out of range: want from 0 % to 100 %"},
		"half a scenario":               {"eligible", 2.5, "want a whole number from 1 to 1e+06"},
		"none at all":                   {"eligible", 0, "out of range"},
		"less than alike":               {"risk-ratio", 0.5, "want from 1 to 1e+06"},
	} {
		if _, err := triage.Default().With(row.name, row.value); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}
