package build_test

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"salve/internal/pipeline/build"
	"salve/internal/pipeline/program"
)

// TestHelperForAnotherPlatform is the fault that this package is for: a build step
// that always builds for one platform, and a machine of another one.
func TestHelperForAnotherPlatform(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go here")
	}
	other := map[bool]string{true: "amd64", false: "arm64"}[runtime.GOARCH == "arm64"]
	for name, test := range map[string]struct{ script, refused string }{
		"forced by the build step": {"GOOS=linux GOARCH=" + other + " ", "is a program for linux/" + other +
			" (ELF, statically linked, built by " + runtime.Version()},
		"forced by the environment":  {"", ""},
		"linked for this very place": {"GOOS=" + runtime.GOOS + " GOARCH=" + runtime.GOARCH + " ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, test.script+"CGO_ENABLED=0 go build -o bin/helper .")
			s.write("go.mod", "module example.com/helper\n\ngo 1.21\n")
			s.write("main.go", "package main\n\nfunc main() {}\n")
			s.environment = append(s.environment, "GOARCH="+other, "GOFLAGS=")
			s.build()
			order := s.order()
			_, err := build.Fit(order.File, program.Here(), "salve pipeline build pipeline.yaml")
			refused := test.refused != ""
			if (err != nil) != refused || refused && !strings.Contains(err.Error(), test.refused) {
				t.Errorf("got %v", err)
			}
			if want := "which this machine, " + program.Host().String() +
				", cannot execute. hint: salve pipeline build pipeline.yaml"; refused &&
				!strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %v", want, err)
			}
		})
	}
}

// TestSettingsOfGo: what go env -w has once chosen for all builds is overruled, and
// said; an order for another platform is not held up by it.
func TestSettingsOfGo(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go here")
	}
	other := map[bool]string{true: "amd64", false: "arm64"}[runtime.GOARCH == "arm64"]
	for name, test := range map[string]struct {
		settings, platform, told, dropped string
	}{
		"none": {"", "", "  \n", ""},
		"another platform": {"GOARCH=" + other + "\n", "", " " + runtime.GOARCH + " \n", "GOARCH=" + other +
			" (of go env -w; go env -u GOARCH takes it back)"},
		"the same": {"GOARCH=" + runtime.GOARCH + "\n", "", "  \n", ""},
		"an order": {"GOARCH=" + other + "\n", "linux/riscv64", "linux riscv64 linux/riscv64\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, `mkdir -p bin; echo "$GOOS $GOARCH $TARGETPLATFORM" >bin/helper`)
			s.write("../settings", test.settings)
			s.environment = append(s.environment, "GOENV="+filepath.Join(s.folder, "../settings"))
			if test.platform != "" {
				s.platform, _ = program.ParsePlatform(test.platform)
			}
			report := s.build()
			if got := s.read("bin/helper"); got != test.told || strings.Join(report.Dropped, ", ") != test.dropped {
				t.Errorf("told %q, dropped %q", got, report.Dropped)
			}
		})
	}
}
