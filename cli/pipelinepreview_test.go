package cli

import "testing"

// TestRunbookPreview: a dry run tells what the runbook would do, from what its
// guards find, and begins no run.
func TestRunbookPreview(t *testing.T) {
	for scenario, says := range map[string]string{
		"wedged":          "would act on aks-1/system, in 8 steps",
		"healthy":         "aks-1/system, nothing-to-do: ",
		"young-operation": "aks-1/system, deferred: ",
		"rbac-denied":     "aks-1/system, undecided: ",
	} {
		t.Run(scenario, func(t *testing.T) {
			b := newBench(t, scenario)
			contains(t, b.rolls(exitDecided, managementPipeline(b), "--dry-run"), says, "Nothing was changed.")
			if len(b.runs()) > 0 {
				t.Errorf("runs %v", b.runs())
			}
		})
	}
}

func TestProgramsThatFit(t *testing.T) {
	for want, found := range map[string]examined{
		"no step names a program to examine":                                  {Host: "linux/amd64"},
		"no program was examined; 1 can't be told before the steps run ($ME)": {Host: "linux/amd64", Untold: []string{"$ME"}},
		"1 program was examined, and linux/amd64 can execute it":              {Examined: 1, Host: "linux/amd64"},
		"2 programs were examined, and linux/amd64 can execute them":          {Examined: 2, Host: "linux/amd64"},
	} {
		if got := found.fit().Reason; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
