package show

import (
	"math"
	"testing"

	"salve/internal/triage"
)

func TestFiguresAreWrittenToBeRead(t *testing.T) {
	for name, row := range map[string]struct{ got, want string }{
		"a share":                      {percent(0.9286), "92.9 %"},
		"none":                         {percent(0), "0 %"},
		"all":                          {percent(1), "100 %"},
		"hardly any":                   {percent(0.0001), "< 0.1 %"},
		"nearly all":                   {percent(0.9999), "> 99.9 %"},
		"a share that is none":         {percent(math.NaN()), "unknown"},
		"p":                            {probability(math.Log(0.0123)), "0.012"},
		"a small p":                    {probability(math.Log(1.83e-21)), "1.8e-21"},
		"p that rounds up to ten":      {probability(math.Log(9.98e-9)), "1.0e-8"},
		"p below what a float64 holds": {probability(-2000), "2.6e-869"},
		"p of nothing":                 {probability(0), "1"},
		"p of an impossible thing":     {probability(math.Inf(-1)), "< 1e-99999"},
		"q that is too small":          {discovery(0), "< 1e-300"},
		"a ratio":                      {number(16.789), "16.8"},
		"a big ratio":                  {number(6493.2), "6493"},
		"a ratio without an upper end": {number(math.Inf(1)), "∞"},
		"a difference":                 {signed(-0.011), "−1.1"},
		"one thing":                    {plural(1, "test", "tests"), "1 test"},
		"a value not taken": {aside(triage.Candidate{Attribute: "a", Value: "b"}),
			"a=b goes with them too, and the causes don't explain it"},
		"a value explained": {aside(triage.Candidate{Attribute: "a", Value: "b", ExplainedBy: "c=d"}),
			"a=b only seems to matter: explained by c=d"},
		"no change": {colon(alternative(triage.Alternative{State: "no-change"}),
			because(triage.Alternative{State: "no-change", Text: "no change was given (--diff, --base)"})),
			"not asked: no change was given (--diff, --base)"},
		"an open question is said to be open once": {because(triage.Alternative{State: "open",
			Text: "whether component a did it is open: against it: b; that alone is not enough"}),
			"against it: b; that alone is not enough"},
		"a missing value":               {name("region", ""), "no region"},
		"a file without a line":         {place("a.log", 0), "a.log"},
		"a line without a file is none": {place("", 7), ""},
	} {
		if row.got != row.want {
			t.Errorf("%s: %q, want %q", name, row.got, row.want)
		}
	}
}
