package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// pane is a terminal of tmux with a shell in it.
type pane struct {
	t      *testing.T
	socket string
}

// newPane starts one of a size. Tests of it are skipped where there is no tmux.
func newPane(t *testing.T, width, height int, environment ...string) *pane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is missing: the live view is not seen on a terminal (Debian has it as tmux)")
	}
	folder := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"salve", "salve-sim"} { // the test's own program is each of them, by its name
		if err := os.Symlink(program, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	p := &pane{t, filepath.Join(folder, "tmux")}
	p.tmux("-f", os.DevNull, "new-session", "-d", "-c", folder, "-x", fmt.Sprint(width), "-y", fmt.Sprint(height),
		"env", "-i", "PATH="+folder+":"+os.Getenv("PATH"), "HOME="+folder, "TERM=tmux-256color", "LANG=C.UTF-8", "PS1=$ ",
		strings.Join(environment, " "), "sh")
	t.Cleanup(func() { p.tmux("kill-server") })
	p.until(`(?m)^\$ ?$`, 0)
	return p
}

func (p *pane) tmux(arguments ...string) string {
	p.t.Helper()
	var kept []string
	for _, argument := range arguments {
		if argument != "" {
			kept = append(kept, argument)
		}
	}
	out, err := exec.Command("tmux", append([]string{"-S", p.socket}, kept...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v: %s", kept, err, out)
	}
	return string(out)
}

// types a command, and goes on at once.
func (p *pane) types(command string) {
	p.t.Helper()
	p.tmux("send-keys", command, "Enter")
}

// screen is what is seen, and all what was ever printed, colours as they are where they are asked for.
func (p *pane) screen() string { return p.tmux("capture-pane", "-p") }
func (p *pane) all() string    { return p.tmux("capture-pane", "-p", "-S", "-") }
func (p *pane) coloured() string {
	return p.tmux("capture-pane", "-p", "-e", "-S", "-")
}

func (p *pane) resize(width, height int) {
	p.t.Helper()
	p.tmux("resize-window", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
}

// until waits until the screen shows a pattern, and gives the screen.
func (p *pane) until(pattern string, patience time.Duration) string {
	p.t.Helper()
	wanted := regexp.MustCompile(pattern)
	deadline := time.After(max(patience, 20*time.Second))
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		screen := p.screen()
		if wanted.MatchString(screen) {
			return screen
		}
		select {
		case <-ticker.C:
		case <-deadline:
			p.t.Fatalf("%q is not seen:\n%s", pattern, p.all())
		}
	}
}

// once fails unless something was printed exactly once.
func (p *pane) once(text string) {
	p.t.Helper()
	if all := p.all(); strings.Count(all, text) != 1 {
		p.t.Errorf("%q was printed %d times:\n%s", text, strings.Count(all, text), all)
	}
}

// TestLiveViewInTmux: on a terminal of 80×24 that is made smaller and larger while a run is at work, each frame fits,
// and afterwards each thing was printed once: nothing of any frame is left.
func TestLiveViewInTmux(t *testing.T) {
	p := newPane(t, 80, 24)
	p.types("seq -f before-%g 30; salve rehearse wedged --speed 30 --journal j")
	p.until(`drain +.*\n(.*\n)*.*⠋?.*delete-pool +ARM is deleting pool system +\S+ of about 2m`, 2*time.Minute)
	screen := p.screen()
	for _, want := range []string{"aks-recreate-pool on aks-1/system  run ", "  system ○○○  stand-in ●●●●●\n",
		"  · recreate   ", " about 2m30s\n", " left\n"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not seen at 80×24:\n%s", want, screen)
		}
	}
	for _, size := range []struct{ width, height int }{{40, 10}, {120, 40}, {60, 7}, {80, 24}} {
		p.resize(size.width, size.height)
		screen := p.until(`(?m)\A.*aks-recr`, 0)
		if !regexp.MustCompile(`(?m)^  \S (delete-po|recreate|retire-st)`).MatchString(screen) ||
			strings.Count(screen, "aks-recr") != 1 {
			t.Errorf("at %d×%d:\n%s", size.width, size.height, screen)
		}
	}
	p.until(`(?m)^Remediated aks-1/system: all final checks hold\.$`, 2*time.Minute)
	for _, text := range []string{"aks-recreate-pool on aks-1/system", "before-30\n", "✓ guards ", "Final checks,",
		"  system ●●●●●  stand-in gone\n"} {
		p.once(text)
	}
	if all := p.all(); strings.ContainsAny(all, "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") || strings.Contains(all, "more to come") {
		t.Errorf("something of a frame is left:\n%s", all)
	}
}

// TestColoursInTmux: reports have colours on a terminal, and none where the user wants none.
func TestColoursInTmux(t *testing.T) {
	const ran = "salve rehearse healthy --speed 60 --journal j"
	for _, row := range []struct {
		name, environment, command string
		colours                    bool
	}{
		{"on a terminal", "", ran, true},
		{"the list of runs", "", ran + " >/dev/null 2>&1; salve runs list --journal j", true},
		{"--no-color", "", ran + " --no-color", false},
		{"--plain", "", ran + " --plain", false},
		{"no-color in the configuration", "SALVE_CONFIG=c.yaml", "echo no-color: true >c.yaml; " + ran, false},
		{"plain in the configuration", "SALVE_CONFIG=c.yaml", "echo plain: true >c.yaml; " + ran, false},
		{"NO_COLOR", "NO_COLOR=1", ran, false},
		{"TERM=dumb", "", "TERM=dumb " + ran, false},
		{"through a pipe", "", ran + " 2>/dev/null | cat", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := newPane(t, 100, 50, row.environment)
			p.types(row.command + "; echo en''ded")
			p.until(`(?m)^ended$`, time.Minute)
			if all := p.coloured(); strings.Contains(all, "\x1b[3") != row.colours || !strings.Contains(all, "othing") {
				t.Errorf("colours, want %v: %q", row.colours, all)
			}
		})
	}
}

// TestCtrlZ gives the terminal back while the process is stopped, and the picture when it goes on.
func TestCtrlZ(t *testing.T) {
	p := newPane(t, 80, 24)
	p.types("set -m; echo be''fore; salve rehearse wedged --speed 60 --journal j")
	p.until(`add-stand-in +ARM is creating`, time.Minute)
	p.tmux("send-keys", "C-z")
	screen := p.until(`(?m)Stopped`, time.Minute)
	if !strings.Contains(screen, "before\n") || strings.Contains(screen, "add-stand-in") {
		t.Errorf("the terminal was not given back:\n%s", screen)
	}
	p.types("echo in be''tween; fg")
	screen = p.until(`(?m)\A.*aks-recr`, time.Minute)
	if strings.Contains(screen, "between") || strings.Contains(screen, "Stopped") {
		t.Errorf("the picture is drawn over what was there:\n%s", screen)
	}
	p.until(`(?m)^Remediated aks-1/system: all final checks hold\.$`, 2*time.Minute)
	p.once("in between\n")
}

// TestTerminalIsGivenBack: also by a process that is killed by the second signal.
func TestTerminalIsGivenBack(t *testing.T) {
	p := newPane(t, 80, 24)
	p.types("echo be''fore; salve rehearse wedged --speed 30; echo en''ded")
	p.until(`add-stand-in +ARM is creating`, time.Minute)
	if strings.Contains(p.screen(), "before") {
		t.Errorf("the run is not on the other screen:\n%s", p.screen())
	}
	p.tmux("send-keys", "C-c")
	p.tmux("send-keys", "C-c")
	if screen := p.until(`(?m)^(ended|\$ ?$)`, time.Minute); !strings.Contains(p.all(), "before\n") {
		t.Errorf("the terminal was not given back:\n%s", screen)
	}
}
