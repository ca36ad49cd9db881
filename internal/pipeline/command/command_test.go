package command_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"salve/internal/pipeline"
	"salve/internal/pipeline/command"
	"salve/internal/pipeline/rollout"
	"salve/journal"
)

// shop is a folder in which the command of one Shell step is run.
type shop struct {
	*testing.T
	action  *command.Action
	attempt *rollout.Attempt
	log     bytes.Buffer
}

// newShop makes a step of a command and more of its fields.
func newShop(t *testing.T, script string, fields ...string) *shop {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash here")
	}
	text := "$schema: pipeline.schema.v1\nserviceGroup: Example.Run\nrolloutName: Run\nresourceGroups:\n- name: g\n  " +
		"resourceGroup: r\n  subscription: s\n  steps:\n" +
		"  - name: step\n    action: Shell\n    shellIdentity: {value: none}\n    command: |\n"
	for line := range strings.Lines(script) {
		text += "      " + strings.TrimSuffix(line, "\n") + "\n"
	}
	for _, field := range fields {
		text += "    " + field + "\n"
	}
	file, found := pipeline.Parse(filepath.Join(t.TempDir(), "pipeline.yaml"), []byte(text))
	if len(found) > 0 {
		t.Fatal(found)
	}
	s := &shop{T: t}
	s.action = &command.Action{Folder: file.Folder(), Environment: os.Environ(), Grace: 5 * time.Second,
		Clock: clock.RealClock{}}
	s.attempt = &rollout.Attempt{Run: "run-" + filepath.Base(t.TempDir()) + t.Name(), Step: file.Steps()[0], Number: 1,
		Log: &s.log, Mask: func(text string, _ ...string) string { return strings.ReplaceAll(text, "hush-hush", "***") }}
	return s
}

func (s *shop) run() rollout.Outcome { return s.action.Run(s.Context(), s.attempt) }

func TestOutcomes(t *testing.T) {
	for _, test := range []struct {
		name, script string
		result       journal.ResultKind
		reason, said string
	}{
		{"success", "echo hello; echo there >&2", journal.Done, "", "hello\nthere\n"},
		{"failure", "echo out of paper; exit 3", journal.Failure, "exit code 3: out of paper", "out of paper\n"},
		{"the first failure ends it", "false\necho not reached", journal.Failure, "exit code 1", ""},
		{"a failure in a pipe", "false | true\necho not reached", journal.Failure, "exit code 1", ""},
		{"a variable that isn't there", `echo "$NO_SUCH"`, journal.Failure, "NO_SUCH: unbound variable", ""},
		{"killed from outside", "kill -9 $$", journal.Unknown, "it was cut off: killed by signal 9 (killed)", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShop(t, test.script)
			outcome := s.run()
			if outcome.Result != test.result || !strings.Contains(outcome.Reason, test.reason) || !strings.Contains(outcome.Said,
				test.said) {
				t.Errorf("%+v", outcome)
			}
			if s.log.String() != outcome.Said {
				t.Errorf("logged %q", s.log.String())
			}
		})
	}
}

// TestIdentityIsPassedOnByName: a step sees nothing of who runs it, unless that is
// named; its own variables it always sees.
func TestIdentityIsPassedOnByName(t *testing.T) {
	s := newShop(t, "env | sort")
	s.action.Environment = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/home/ana", "AZURE_CLIENT_SECRET=hush", "KUBECONFIG=/home/ana/.kube/config",
		"SSH_AUTH_SOCK=/tmp/agent", "GITHUB_TOKEN=hush", "LANG=C", "HTTPS_PROXY=http://proxy",
	}
	s.action.Pass = []string{"KUBECONFIG"}
	s.attempt.Variables = []rollout.Variable{{Name: "SIZE", Value: "3"}, {Name: "LIST", Value: []any{"a", "b"}}}
	outcome := s.run()
	for _, want := range []string{"KUBECONFIG=/home/ana/.kube/config\n", "SIZE=3\n", `LIST=["a","b"]` + "\n", "LANG=C\n",
		"HTTPS_PROXY=", "SALVE_STEP=g/step\n"} {
		if !strings.Contains(outcome.Said, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, leak := range []string{"hush", "SSH_AUTH_SOCK", "/home/ana\n"} {
		if strings.Contains(outcome.Said, leak) {
			t.Errorf("%q is passed on:\n%s", leak, outcome.Said)
		}
	}
}

func TestHomeIsTheStepsOwn(t *testing.T) {
	s := newShop(t, `mkdir -p ~/deep/er; echo x >~/deep/er/file; chmod -w ~/deep/er; echo "$HOME"`)
	outcome := s.run()
	home := strings.TrimSpace(outcome.Said)
	if _, err := os.Stat(home); outcome.Result != journal.Done || !os.IsNotExist(err) {
		t.Errorf("%+v: %s is still there (%v)", outcome, home, err)
	}
}

func TestOutputs(t *testing.T) {
	for _, test := range []struct {
		name, script string
		want         map[string]rollout.Output
		wrong        string
	}{
		{"none", "true", nil, ""},
		{"lines", `echo "a=1" >>$SALVE_OUTPUT; echo "b=x=y z" >>$SALVE_OUTPUT`, map[string]rollout.Output{"a": {Value: "1"},
			"b": {Value: "x=y z"}}, ""},
		{"several lines", "{ echo 'a<<END'; echo one; echo; echo 'two=2'; echo END; echo 'b='; } >$SALVE_OUTPUT",
			map[string]rollout.Output{"a": {Value: "one\n\ntwo=2"}, "b": {Value: ""}}, ""},
		{"secrets", "echo key=hush >$SALVE_SECRET_OUTPUT", map[string]rollout.Output{"key": {Value: "hush", Secret: true}},
			""},
		{"without an end", "echo 'a<<END' >$SALVE_OUTPUT", nil, `line 1 begins "a", and no line END ends it`},
		{"no name", "echo hello >$SALVE_OUTPUT", nil, "line 1 is neither name=value nor name<<END"},
		{"twice", "echo 'a=1\na=2' >$SALVE_OUTPUT", nil, `line 2 gives "a" once more`},
		{"secret and not", "echo a=1 | tee $SALVE_OUTPUT >$SALVE_SECRET_OUTPUT", nil,
			`"a" is given as a secret and not as one`},
		{"too much", "head -c 300000 /dev/zero >$SALVE_OUTPUT", nil, "more than 262144 bytes"},
		{"as long as can be", "{ printf a=; head -c 130048 /dev/zero | tr '\\0' x; } >$SALVE_OUTPUT",
			map[string]rollout.Output{"a": {Value: strings.Repeat("x", 127<<10)}}, ""},
		{"too long for a variable", "{ printf big=; head -c 130049 /dev/zero | tr '\\0' x; } >$SALVE_OUTPUT", nil,
			`output "big" has 130049 bytes, and a variable holds no more than 130048`},
		{"too long over several lines", "{ echo 'big<<END'; seq 30000; echo END; } >$SALVE_SECRET_OUTPUT", nil,
			`output "big" has 168893 bytes`},
		{"a zero byte", `printf 'a=x\0y\n' >$SALVE_OUTPUT`, nil, `output "a" holds a zero byte`},
		{"no text", `printf 'a=caf\351\n' >$SALVE_OUTPUT`, nil, `output "a" is no UTF-8`},
		{"a pipe that nobody fills", "mkfifo $SALVE_OUTPUT", nil, "the file is no regular one any more"},
		{"a folder", "mkdir $SALVE_OUTPUT", nil, "the file is no regular one any more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			outcome := newShop(t, test.script).run()
			if test.wrong != "" {
				if outcome.Result != journal.Unknown || outcome.Unread == nil ||
					!strings.Contains(outcome.Unread.Error(), test.wrong) || outcome.Outputs != nil {
					t.Errorf("%+v", outcome)
				}
				return
			}
			if outcome.Result != journal.Done || len(outcome.Outputs) != len(test.want) {
				t.Fatalf("%+v", outcome)
			}
			for name, want := range test.want {
				if outcome.Outputs[name] != want {
					t.Errorf("%s is %+v, want %+v", name, outcome.Outputs[name], want)
				}
			}
		})
	}
}

// TestOnlyWhatWasNeverStartedIsRefused: a command that failed has done a part of its work.
func TestOnlyWhatWasNeverStartedIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		script  string
		lost    bool
		refused bool
	}{
		"a step that failed":                  {script: "echo a=1 >$SALVE_OUTPUT; false"},
		"and wrote outputs that nobody reads": {script: "echo nonsense >$SALVE_OUTPUT; false"},
		"a folder that is not there":          {script: "true", lost: true, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, test.script)
			if test.lost {
				s.action.Folder = filepath.Join(s.action.Folder, "lost")
			}
			outcome := s.run()
			if outcome.Result != journal.Failure || outcome.Refused != test.refused || outcome.Unread != nil ||
				outcome.Outputs != nil {
				t.Errorf("%+v", outcome)
			}
		})
	}
}

// TestLongestValueReachesAStep: what may be handed on can be given.
func TestLongestValueReachesAStep(t *testing.T) {
	s := newShop(t, `test ${#A} = 130048`)
	s.attempt.Variables = []rollout.Variable{{Name: "A", Value: strings.Repeat("x", 127<<10)}}
	if outcome := s.run(); outcome.Result != journal.Done {
		t.Errorf("%+v", outcome)
	}
}

// TestMuchOutput: what is remembered is bounded, what is logged is whole.
func TestMuchOutput(t *testing.T) {
	s := newShop(t, "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo the end")
	outcome := s.run()
	if s.log.Len() != 3_000_009 || len(outcome.Said) > 64<<10 || !strings.HasSuffix(outcome.Said, "the end\n") {
		t.Errorf("%d bytes logged, %d remembered", s.log.Len(), len(outcome.Said))
	}
}

// TestWhatIsSought: what an automatedRetry looks for is found wherever it was said,
// also when it was said in pieces.
func TestWhatIsSought(t *testing.T) {
	retry := "automatedRetry: {errorContainsAny: [TooManyRequests, not said, the end], maximumRetryCount: 2, " +
		"durationBetweenRetries: 1s}"
	s := newShop(t, "printf TooMany; sleep 0.05; echo Requests\nhead -c 300000 /dev/zero | tr '\\0' x; echo the end; "+
		"exit 1", retry)
	said := s.run().Said
	if !strings.HasPrefix(said, "TooManyRequests\nxxx") || strings.Contains(said, "not said") ||
		strings.Count(said, "the end") != 1 {
		t.Errorf("%d bytes, which begin with %.40q", len(said), said)
	}
}

// TestFullDisk: what became of a step is for the step to say, also when its log
// can't be written.
func TestFullDisk(t *testing.T) {
	for name, test := range map[string]struct {
		script, reason string
		result         journal.ResultKind
	}{
		"done": {"echo 'id=7' >$SALVE_OUTPUT; head -c 200000 /dev/zero; echo done",
			"its log is not complete: write /dev/full: no space left on device", journal.Done},
		"failed": {"head -c 200000 /dev/zero; echo; echo out of paper; exit 3",
			"exit code 3: out of paper; its log is not complete: write", journal.Failure},
		"cut off": {"echo begun; kill -9 $$", "it was cut off: killed by signal 9 (killed); its log is not complete: write",
			journal.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Skip(err)
			}
			defer full.Close()
			s := newShop(t, test.script)
			s.attempt.Log = full
			outcome := s.run()
			if outcome.Result != test.result || !strings.HasPrefix(outcome.Reason, test.reason) {
				t.Errorf("%+v", outcome)
			}
			if test.result == journal.Done && outcome.Outputs["id"].Value != "7" {
				t.Errorf("it handed on %v", outcome.Outputs)
			}
		})
	}
}

// TestStop: a step that is told to stop may do so in its own way; one that is cut
// off has an unknown outcome.
func TestStop(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		result journal.ResultKind
		reason string
	}{
		"it is cut off": {": >ready; sleep 600", journal.Unknown,
			"it was cut off: killed by signal 15 (terminated)"},
		"it says that it failed": {"trap 'echo tidied; exit 9' TERM; : >ready; while :; do sleep 0.05; done",
			journal.Failure, "exit code 9: tidied"},
		"it finishes": {"trap : TERM; : >ready; sleep 0.3 || sleep 0.3; echo finished", journal.Done, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, test.script)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				for ctx.Err() == nil {
					if _, err := os.Stat(filepath.Join(s.action.Folder, "ready")); err == nil {
						cancel()
					}
					time.Sleep(5 * time.Millisecond)
				}
			}()
			outcome := s.action.Run(ctx, s.attempt)
			if outcome.Result != test.result || !strings.Contains(outcome.Reason, test.reason) {
				t.Errorf("%+v", outcome)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		fields []string
		pass   []string
		says   string
	}{
		"nothing special":    {nil, nil, ""},
		"a missing folder":   {[]string{"workingDir: nowhere"}, nil, "its working folder"},
		"a cluster":          {[]string{"aksCluster: aks-1"}, nil, "it wants access to cluster aks-1: --pass KUBECONFIG"},
		"a cluster, by name": {[]string{"aksCluster: aks-1"}, []string{"KUBECONFIG"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, "true", test.fields...)
			s.action.Pass = test.pass
			err := s.action.Check(t.Context(), s.attempt.Step)
			if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPreview(t *testing.T) {
	for name, test := range map[string]struct {
		fields []string
		says   string
	}{
		"without a variant":    {nil, `runs: echo "really $MODE" …`},
		"with another command": {[]string{"dryRun: {command: echo would}"}, "its dry run says: would"},
		"with another variable": {[]string{"dryRun: {variables: [{name: MODE, value: not}]}"},
			"its dry run says: really not\nand more"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, "echo \"really $MODE\"\necho and more", test.fields...)
			s.attempt.Variables = []rollout.Variable{{Name: "MODE", Value: "so"}}
			said, err := s.action.Preview(t.Context(), s.attempt)
			if err != nil || said != test.says {
				t.Errorf("said %q, %v", said, err)
			}
		})
	}
}

// TestASecretAcrossTheCut: a reason is cut short after its secrets are hidden: of half
// a secret nobody knows that it is one.
func TestASecretAcrossTheCut(t *testing.T) {
	s := newShop(t, `printf "%0195d" 0; echo hush-hush; exit 3`)
	if outcome := s.run(); strings.Contains(outcome.Reason, "hush") || !strings.HasSuffix(outcome.Reason, "0***") {
		t.Errorf("the reason is %s", outcome.Reason)
	}
}
