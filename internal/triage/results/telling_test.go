package results_test

import (
	"fmt"
	"strings"
	"testing"

	"salve/internal/triage/results"
)

// TestTheMessageOfALogIsTheLineThatTellsItsFailure, however long the log is.
func TestTheMessageOfALogIsTheLineThatTellsItsFailure(t *testing.T) {
	many := strings.Repeat("line\n", 3000)
	for rule, row := range map[string]struct{ log, want string }{
		"an error at the end of a long log":    {many + "ERROR bad thing\n", "3001: ERROR bad thing"},
		"an error in the middle of a long log": {many + "ERROR bad thing\n" + many, `3001: ERROR bad thing`},
		"without an end of line":               {"one\nERROR bad", "2: ERROR bad"},
		"the last error":                       {"ERROR a\nERROR b\nbye\n", "2: ERROR b"},
		"not what only says that it failed":    {"error: disk full\nFAIL\tpkg 0.1s\nmake: *** [all] Error 2\nexit status 1\n3 failed, 2 passed\n", `1: error: disk full`},
		"unless nothing else is there":         {"hello\nexit status 1\nError: Process completed with exit code 1.\nbye\n", `3: Error: Process completed with exit code 1.`},
		"not what was coped with":              {"ERROR a\n2026-11-23T21:04:05Z INFO attempt failed\nlevel=warning msg=\"timed out\"\nI1123 21:04:05 x failed\n", `1: ERROR a`},
		"not what didn't happen":               {"error: a\n0 failed\nno errors, no failure\nerror=nil\nerrors: 0, \"error\": null\nfailed=0\n", `1: error: a`},
		"not a part of a word":                 {"cannot open\nterror unfailing errorless failover\n", `1: cannot open`},
		"an error's name":                      {"java.lang.IllegalStateException: closed\nbye\n", `1: java.lang.IllegalStateException: closed`},
		"in colours":                           {"\x1b[31mERROR\x1b[0m bad\nbye\n", `1: �[31mERROR�[0m bad`},
		"words":                                {"dial tcp: connection refused\nbye\n", `1: dial tcp: connection refused`},
		"a crash before all errors":            {"panic: out of range\n\ngoroutine 1 [running]:\nERROR later\npanic: again\n", `1: panic: out of range`},
		"a crash of a kernel":                  {"[  1.2] Kernel panic - not syncing: VFS\nerror: x\n", `1: [  1.2] Kernel panic - not syncing: VFS`},
		"a traceback's message":                {"x\nTraceback (most recent call last):\n  File \"a.py\", line 1\nValueError: no\nERROR later\n", `4: ValueError: no`},
		"the last traceback":                   {"Traceback (most recent call last):\n  f\nA: a\nTraceback (most recent call last):\n  f\nB: b\n", `6: B: b`},
		"a traceback that is cut off":          {"Traceback (most recent call last):\n  f\n", `1: Traceback (most recent call last):`},
		"the last line where nothing is known": {"one\ntwo\n\n \n", "2: two"},
		"the beginning of a long line":         {"ERROR " + strings.Repeat("x", 300<<10) + "\nbye\n", `1: ERROR ` + strings.Repeat("x", 4090)},
	} {
		t.Run(rule, func(t *testing.T) {
			for one, err := range (results.Reader{Stdin: strings.NewReader(row.log)}).Cases(t.Context(), "-") {
				if got := fmt.Sprintf("%d: %s", one.Origin.Line, one.Message); err != nil || got != row.want {
					t.Errorf("%q, want %q (%v)", got, row.want, err)
				}
			}
		})
	}
}

func TestACrashInALogIsItsFailure(t *testing.T) {
	const panicked = "panic: no\n\ngoroutine 1 [running]:\nmain.main()"
	const traced = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\nValueError: no"
	for log, want := range map[string]string{
		"x\n" + panicked + "\n": panicked,
		"x\n" + traced + "\n":   traced,
		"ERROR no\n":            "",
	} {
		for one, err := range (results.Reader{Stdin: strings.NewReader(log)}).Cases(t.Context(), "-") {
			if err != nil || one.Failure.String() != want {
				t.Errorf("%q of %q (%v)", one.Failure.String(), log, err)
			}
		}
	}
}
