package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNothingOfTheSimulatorsIsLinked: the program that changes clusters holds no embedded Azure, no fake
// clientset and no package for tests.
func TestNothingOfTheSimulatorsIsLinked(t *testing.T) {
	const listed = `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`
	out, err := exec.Command("go", "list", "-deps", "-f", listed, "salve/cmd/salve").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(packages) < 200 {
		t.Fatalf("only %d packages were listed", len(packages))
	}
	for _, line := range packages {
		one, imports, _ := strings.Cut(line, " ")
		if one == "testing" {
			continue // who imports it is looked at
		}
		// Helm asks testing.Testing() what it calls itself.
		if slices.Contains(strings.Fields(imports), "testing") && !strings.HasPrefix(one, "helm.sh/helm/") {
			t.Errorf("%s imports testing", one)
		}
		if one == "k8s.io/client-go/testing" {
			continue // client-go's own typed clients import it, beside their fakes; the linker leaves it out
		}
		fake := strings.HasPrefix(one, "k8s.io/") && (strings.HasSuffix(one, "/fake") || strings.HasSuffix(one, "/testing"))
		simulated := strings.HasPrefix(one, "salve/internal/azuresim") || strings.HasPrefix(one, "salve/internal/simcli")
		if fake || simulated || strings.HasPrefix(one, "testing/") ||
			strings.HasPrefix(one, "salve/internal/kubetest") {
			t.Errorf("%s is linked", one)
		}
	}
}

// TestSimulatorIsFoundBesideSalveOrOnPath, in this order, and told about when it is nowhere.
func TestSimulatorIsFoundBesideSalveOrOnPath(t *testing.T) {
	folder, elsewhere, home := t.TempDir(), t.TempDir(), t.TempDir()
	program := filepath.Join(folder, "salve")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(arguments ...string) (string, int) {
		command := exec.Command(program, arguments...)
		command.Env = []string{"PATH=" + elsewhere + ":/bin:/usr/bin", "HOME=" + home, "KEPT=yes"}
		command.Stdin = strings.NewReader("typed")
		out, _ := command.CombinedOutput() // the exit code tells
		return string(out), command.ProcessState.ExitCode()
	}
	if out, code := run("rehearse", "wedged"); code != 2 || !strings.Contains(out, "salve-sim not found") ||
		!strings.Contains(out, "hint: make build") {
		t.Errorf("without it: exit code %d, %s", code, out)
	}
	write := func(folder, name string) {
		script := "#!/bin/sh\necho " + name + " \"$KEPT\" \"$@\"\ncat\nexit 3\n"
		if err := os.WriteFile(filepath.Join(folder, "salve-sim"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(elsewhere, "on-path")
	if out, code := run("sim", "serve", "a b", "--help"); code != 3 || out != "on-path yes serve a b --help\ntyped" {
		t.Errorf("on PATH: exit code %d, %q", code, out)
	}
	write(folder, "beside")
	if out, code := run("rehearse", "--speed", "7"); code != 3 || out != "beside yes rehearse --speed 7\ntyped" {
		t.Errorf("beside salve: exit code %d, %q", code, out)
	}
}
