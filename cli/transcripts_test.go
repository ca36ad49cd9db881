package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTranscriptsAreTrue types what the pages of docs/ show behind a prompt in blocks marked console, and compares the
// answers. Names, times and durations differ from run to run; "…" stands for anything.
func TestTranscriptsAreTrue(t *testing.T) {
	for _, page := range []struct {
		name     string
		commands int    // at least
		in       string // the folder of examples/ that they are typed in
	}{
		{name: "quick-start.md", commands: 3},
		{name: "3am.md", commands: 3},
		{name: "pipelines.md", commands: 1, in: "fleet"},
	} {
		t.Run(page.name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join("..", "docs", page.name))
			if err != nil {
				t.Fatal(err)
			}
			typed := transcript(string(raw))
			if len(typed) < page.commands {
				t.Fatalf("only %d commands are shown", len(typed))
			}
			s := &shell{folder: t.TempDir(), runs: map[string]string{}}
			if page.in != "" {
				if err := os.CopyFS(s.folder, os.DirFS(filepath.Join("..", "examples", page.in))); err != nil {
					t.Fatal(err)
				}
			}
			for _, one := range typed {
				got, err := s.run(t, one.command)
				if err != nil {
					t.Fatalf("$ %s\n%v", one.command, err)
				}
				s.learn(one.answer, got)
				if missing := firstMissing(one.answer, got); missing != "" {
					t.Errorf("$ %s\nshown, and not answered:\n  %s\nanswered (-shown +answered):\n%s", one.command, missing,
						cmp.Diff(one.answer, got))
				}
			}
		})
	}
}

// typedLine is a command of a page, and what the page shows as its answer.
type typedLine struct{ command, answer string }

// transcript reads the blocks marked console of a page.
func transcript(page string) (typed []typedLine) {
	for _, block := range strings.Split(page, "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.Lines(block) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				typed = append(typed, typedLine{command: strings.TrimSpace(command)})
			} else if len(typed) > 0 {
				typed[len(typed)-1].answer += line
			}
		}
	}
	return typed
}

// shell is where the commands of a page are typed.
type shell struct {
	folder string
	last   int
	// runs are the names of the runs here, by the names on the page.
	runs map[string]string
}

// run types a command of salve or salve-sim, or asks for the last exit code.
func (s *shell) run(t *testing.T, command string) (string, error) {
	if command == "echo $?" {
		return fmt.Sprintln(s.last), nil
	}
	for shown, here := range s.runs {
		command = strings.ReplaceAll(command, shown, here)
	}
	if program, _, _ := strings.Cut(command, " "); program != "salve" && program != "salve-sim" {
		return "", fmt.Errorf("only salve and salve-sim are typed here")
	}
	typed := exec.CommandContext(t.Context(), "sh", "-c", command)
	typed.Dir = s.folder
	typed.Env = append(os.Environ(),
		"XDG_STATE_HOME="+s.folder+"/state", "HOME="+s.folder+"/home", "GORACE=atexit_sleep_ms=10")
	out, err := typed.CombinedOutput()
	if typed.ProcessState == nil {
		return "", err
	}
	s.last = typed.ProcessState.ExitCode()
	var answer strings.Builder
	for line := range strings.Lines(string(out)) {
		if !progressLine.MatchString(line) { // a terminal shows it otherwise
			answer.WriteString(line)
		}
	}
	return answer.String(), nil
}

var progressLine = regexp.MustCompile(`^[0-9]{2}:[0-9]{2}:[0-9]{2}  `)

var runName = regexp.MustCompile(`\b[0-9]{8}-[0-9]{6}-[0-9a-f]{6}\b`)

// learn notes which run here is which of the page: in the order in which both name them.
func (s *shell) learn(shown, here string) {
	names, ours := runName.FindAllString(shown, -1), runName.FindAllString(here, -1)
	for i, name := range names {
		if _, known := s.runs[name]; !known && i < len(ours) {
			s.runs[name] = ours[i]
		}
	}
}

// firstMissing is the first line that is shown and does not follow in the answer; empty when all do.
func firstMissing(shown, answer string) string {
	lines := strings.Split(strings.TrimRight(answer, "\n"), "\n")
	skipping := false
	for want := range strings.Lines(shown) {
		want = strings.TrimRight(want, "\n")
		if want == "…" {
			skipping = true
			continue
		}
		found := -1
		for i, line := range lines {
			if alike(want, line) {
				found = i
				break
			}
			if !skipping {
				break
			}
		}
		if found < 0 {
			return want
		}
		lines, skipping = lines[found+1:], false
	}
	return ""
}

// differing is what differs from run to run.
var differing = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{runName, "RUN"},
	{regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "ID"},
	{regexp.MustCompile(`\b\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}`), "WHEN"},
	{regexp.MustCompile(`\bdigest [0-9a-f]{16}\b`), "digest D"},
	{regexp.MustCompile(`by \S+@\S+ \(process \d+\)`), "by SOMEBODY"},
	{regexp.MustCompile(`\+\d+:\d\d\b`), "+T"},
	{regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+s\b`), "TIME"},
	{regexp.MustCompile(`-[a-z0-9]{5}-[a-z0-9]{5}\b`), "-POD"},
	{regexp.MustCompile(`\s+`), " "},
}

func alike(shown, line string) bool {
	for _, one := range differing {
		shown, line = one.pattern.ReplaceAllString(shown, one.instead), one.pattern.ReplaceAllString(line, one.instead)
	}
	parts := strings.Split(shown, "…")
	if !strings.HasPrefix(line, parts[0]) {
		return false
	}
	line = line[len(parts[0]):]
	for _, part := range parts[1:] {
		at := strings.Index(line, part)
		if at < 0 {
			return false
		}
		line = line[at+len(part):]
	}
	return len(parts) > 1 || strings.TrimSpace(line) == ""
}
