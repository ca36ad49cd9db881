package runbooktest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"salve/runbook"
	"salve/runbook/runbooktest"
)

func sweep(t *testing.T, broken string, options ...runbooktest.Option) {
	runbooktest.CrashAnywhere(t, func(t *testing.T) runbooktest.World {
		v := &valve{broken: broken}
		return runbooktest.World{
			Start: func(process *runbooktest.Process) runbook.Runbook {
				v.process = process
				return v.book()
			},
			Verify: func() {
				if !v.locked || !v.shut || v.shuts != 1 {
					t.Errorf("the valve is %+v", v)
				}
			},
		}
	}, append(options, runbooktest.VirtualTime())...)
}

// TestCrashAnywhere: a runbook that observes before it acts passes every cut.
func TestCrashAnywhere(t *testing.T) { sweep(t, "") }

// TestQuestionIsAnEnd: a run that can't tell what became of a change parks, and passes.
func TestQuestionIsAnEnd(t *testing.T) { sweep(t, "asks") }

// brokenVariable has a process of this test run the sweep of a broken runbook.
const brokenVariable = "SALVE_TEST_BROKEN_RUNBOOK"

// TestBroken is run by TestSweepFindsBrokenRunbooks alone.
func TestBroken(t *testing.T) {
	if broken := os.Getenv(brokenVariable); broken != "" {
		sweep(t, broken)
	}
}

// TestSweepFindsBrokenRunbooks: what each invariant is for fails the sweep.
func TestSweepFindsBrokenRunbooks(t *testing.T) {
	t.Parallel()
	for broken, says := range map[string]string{
		"no-permit":    "shut has no permit",
		"old-permit":   "shut has no open intent",
		"other-target": "is still open",
		"blind":        "shut was made again",
		"age":          "the same state has the digests",
		"check":        "the run that nobody kills ends",
		"unseen":       "no change was seen",
		"clock":        "guard flows decides otherwise than this very program recorded",
	} {
		t.Run(broken, func(t *testing.T) {
			t.Parallel()
			command := exec.Command(os.Args[0], "-test.run=^TestBroken$")
			command.Env = append(os.Environ(), brokenVariable+"="+broken)
			out, err := command.CombinedOutput()
			if err == nil || !strings.Contains(string(out), says) {
				t.Errorf("%v, without %q:\n%s", err, says, out)
			}
		})
	}
}
