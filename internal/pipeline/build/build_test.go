package build_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"salve/internal/pipeline"
	"salve/internal/pipeline/build"
	"salve/internal/pipeline/program"
)

// TestMain lets the test's own program be the builder that is killed.
func TestMain(m *testing.M) {
	if folder := os.Getenv("BUILD_AND_BE_KILLED"); folder != "" {
		file, _, _ := pipeline.Read(filepath.Join(folder, "pipeline.yaml"))
		_, err := build.Run(context.Background(), build.Order{
			File: file, Environment: os.Environ(), Output: os.Stdout, State: os.Getenv("STATE"), Clock: clock.RealClock{},
		})
		fmt.Println(err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// site is a folder with a pipeline whose build step is a text of bash, and whose
// one step executes bin/helper.
type site struct {
	*testing.T
	folder, state string
	environment   []string
	anew          bool
	platform      program.Platform
	said          bytes.Buffer
}

func newSite(t *testing.T, script string) *site {
	t.Helper()
	s := &site{T: t, folder: t.TempDir(), state: t.TempDir(), environment: os.Environ()}
	s.write("pipeline.yaml", fmt.Sprintf(`$schema: pipeline.schema.v1
serviceGroup: Example.Build
rolloutName: Build
buildStep:
  command: bash
  args: [-c, %q]
resourceGroups:
- name: management
  resourceGroup: mgmt
  subscription: sub
  steps:
  - name: help
    action: Shell
    command: ./bin/helper --now
    shellIdentity: {value: none}
`, script))
	s.write("source", "first")
	return s
}

func (s *site) write(name, content string) {
	s.Helper()
	path := filepath.Join(s.folder, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o755)); err != nil {
		s.Fatal(err)
	}
}

func (s *site) read(name string) string {
	s.Helper()
	raw, err := os.ReadFile(filepath.Join(s.folder, name))
	if err != nil {
		return "nothing"
	}
	return string(raw)
}

func (s *site) order() build.Order {
	s.Helper()
	file, found, err := pipeline.Read(filepath.Join(s.folder, "pipeline.yaml"))
	if err != nil || len(found) > 0 {
		s.Fatal(found, err)
	}
	return build.Order{
		File: file, Platform: s.platform, Anew: s.anew, Environment: s.environment,
		Output: &s.said, State: s.state, Clock: clock.RealClock{},
	}
}

func (s *site) build() build.Report {
	s.Helper()
	report, err := build.Run(s.Context(), s.order())
	if err != nil {
		s.Fatal(err)
	}
	return report
}

// copying builds the helper from the source, and counts.
const copying = `mkdir -p bin; cat source >bin/helper; date +%N >made.too; echo built >>../` + counter

const counter = "count.of.builds"

func (s *site) built() int {
	return strings.Count(s.read("../"+counter), "built")
}

func TestOnlyWhatChangedIsBuilt(t *testing.T) {
	for name, change := range map[string]struct {
		change func(*site)
		again  bool
	}{
		"nothing":                    {func(*site) {}, false},
		"a source":                   {func(s *site) { s.write("source", "second") }, true},
		"a new source":               {func(s *site) { s.write("more", "") }, true},
		"a source's name":            {func(s *site) { s.write("other/source", "first") }, true},
		"the program":                {func(s *site) { s.write("bin/helper", "tampered") }, true},
		"the program's absence":      {func(s *site) { _ = os.Remove(filepath.Join(s.folder, "bin/helper")) }, true},
		"a variable of the compiler": {func(s *site) { s.environment = append(s.environment, "GOFLAGS=-race") }, true},
		"another variable":           {func(s *site) { s.environment = append(s.environment, "SHLVL=9") }, false},
		"the platform": {func(s *site) { s.platform = program.Platform{OS: "linux", Arch: "riscv64"} },
			true},
		"nothing, but it is to be anew":   {func(s *site) { s.anew = true }, true},
		"a variable that forces platform": {func(s *site) { s.environment = append(s.environment, "GOARCH=riscv64") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, copying)
			if report := s.build(); report.Cached {
				t.Fatal("nothing was built at first")
			}
			change.change(s)
			if report := s.build(); report.Cached == change.again {
				t.Errorf("cached: %v", report.Cached)
			}
			if want := map[bool]int{true: 2, false: 1}[change.again]; s.built() != want {
				t.Errorf("built %d times, want %d", s.built(), want)
			}
		})
	}
}

// TestFromWhereverItIsCalled: a build step's own command and the programs that it
// makes are found from the pipeline's folder, also when that is where salve runs.
func TestFromWhereverItIsCalled(t *testing.T) {
	for name, step := range map[string]string{
		"a script of the folder":       "command: ./make.sh",
		"an argument names the output": "command: bash\n  args: [make.sh, bin/helper]",
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, copying)
			text := strings.Replace(s.read("pipeline.yaml"), fmt.Sprintf("command: bash\n  args: [-c, %q]", copying), step, 1)
			s.write("pipeline.yaml", text)
			s.write("make.sh", "#!/bin/sh\n"+copying)
			s.build()
			t.Chdir(s.folder)
			for range 2 {
				order := s.order()
				order.File.Path = "pipeline.yaml"
				report, err := build.Run(t.Context(), order)
				if err != nil || !report.Cached {
					t.Errorf("%+v, %v", report, err)
				}
			}
		})
	}
}

// TestRepository: what git ignores is no input, what it tracks is no program to
// be brought back.
func TestRepository(t *testing.T) {
	s := newSite(t, copying)
	s.write(".gitignore", "bin\nnotes\n")
	s.write("deeper/source", "first")
	for _, arguments := range [][]string{{"init", "-q"}, {"add", "."}} {
		command := exec.Command("git", arguments...)
		command.Dir = s.folder
		if out, err := command.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v: %s", arguments, err, out)
		}
	}
	s.build()
	s.write("notes", "ignored")
	if !s.build().Cached {
		t.Error("built again for a file that git ignores")
	}
	s.write("untracked", "")
	if s.build().Cached {
		t.Error("a file that git does not know yet was not seen")
	}
}

func TestFailedBuildLeavesTheOldProgram(t *testing.T) {
	for name, test := range map[string]struct{ script, says string }{
		"it fails":           {`echo half >bin/helper; echo trouble; exit 3`, "the build step failed (exit code 3)"},
		"it is killed":       {`echo half >bin/helper; kill -9 $$`, "the build step failed (killed by signal 9 (killed))"},
		"it removes first":   {`rm bin/helper; false`, "the build step failed"},
		"it makes a folder":  {`rm bin/helper; mkdir bin/helper; false`, "bringing back bin/helper"},
		"it was not allowed": {`echo half >bin/helper; chmod a-w bin/helper; false`, "the build step failed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, test.script)
			s.write("bin/helper", "old")
			_, err := build.Run(t.Context(), s.order())
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got %v", err)
			}
			if got := s.read("bin/helper"); got != "old" && name != "it makes a folder" {
				t.Errorf("the helper is %q", got)
			}
		})
	}
	t.Run("there was none", func(t *testing.T) {
		s := newSite(t, `mkdir -p bin; echo half >bin/helper; false`)
		if _, err := build.Run(t.Context(), s.order()); err == nil || s.read("bin/helper") != "nothing" {
			t.Errorf("%v; the helper is %q", err, s.read("bin/helper"))
		}
	})
	t.Run("it was interrupted", func(t *testing.T) {
		s := newSite(t, `echo half >bin/helper; touch ../interrupt; sleep 600`)
		s.write("bin/helper", "old")
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("enough")
		go func() {
			for s.read("../interrupt") == "nothing" && ctx.Err() == nil {
				time.Sleep(5 * time.Millisecond)
			}
			cancel(stop)
		}()
		if _, err := build.Run(ctx, s.order()); !errors.Is(err, stop) || s.read("bin/helper") != "old" {
			t.Errorf("%v; the helper is %q", err, s.read("bin/helper"))
		}
	})
}

// TestKilledBuilder: whenever the builder is killed, whoever builds or runs next
// finds the old program or a whole new one, and nothing still writes to it.
func TestKilledBuilder(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const whole = "new new new new new new new new\n"
	chance := rand.New(rand.NewPCG(6, 2))
	for round := range 12 {
		s := newSite(t, `touch ../began; mkdir -p bin; : >bin/helper; for i in 1 2 3 4 5 6 7; do printf "new " >>bin/helper; sleep 0.03; done; echo new >>bin/helper`)
		s.write("bin/helper", "old")
		builder := exec.Command(self)
		builder.Env = append(os.Environ(), "BUILD_AND_BE_KILLED="+s.folder, "STATE="+s.state)
		if err := builder.Start(); err != nil {
			t.Fatal(err)
		}
		for s.read("../began") == "nothing" {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(chance.IntN(300)) * time.Millisecond)
		if err := builder.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = builder.Wait()
		if err := build.Mend(t.Context(), s.order()); err != nil {
			t.Fatal(err)
		}
		if got := s.read("bin/helper"); got != "old" && got != whole {
			t.Errorf("round %d left %q", round, got)
		}
	}
}

func TestPlatform(t *testing.T) {
	const telling = `mkdir -p bin; echo "$GOOS $GOARCH $GOARM $TARGETPLATFORM" >bin/helper`
	forced := append(os.Environ(), "GOARCH=s390x", "TARGETPLATFORM=linux/s390x")
	for name, test := range map[string]struct{ platform, told string }{
		"this machine":   {"", "   \n"},
		"another one":    {"linux/arm64", "linux arm64  linux/arm64\n"},
		"with a variant": {"linux/arm/v7", "linux arm 7 linux/arm/v7\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, telling)
			s.environment = forced
			if test.platform != "" {
				var err error
				if s.platform, err = program.ParsePlatform(test.platform); err != nil {
					t.Fatal(err)
				}
			}
			report := s.build()
			if got := s.read("bin/helper"); got != test.told {
				t.Errorf("told %q", got)
			}
			if strings.Join(report.Dropped, " ") != "GOARCH=s390x TARGETPLATFORM=linux/s390x" {
				t.Errorf("dropped %q", report.Dropped)
			}
			info, err := os.Stat(filepath.Join(s.folder, "bin/helper"))
			if err != nil || info.Mode()&0o111 == 0 {
				t.Errorf("not executable: %v %v", info.Mode(), err)
			}
		})
	}
}
