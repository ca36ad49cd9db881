package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"
)

// simulator is the program that has the embedded Azure. It is one of its own, as plugins of git and kubectl are, so
// that the program that changes clusters links nothing of it.
const simulator = "salve-sim"

func newRehearse(a *app) *cobra.Command {
	return a.delegated("rehearse [SCENARIO]",
		"Run a runbook on an embedded Azure, on a clock that runs faster", `  # What there is to rehearse, and one of it
  salve rehearse --list
  salve rehearse wedged --journal ./journal`, "rehearse")
}

func newSim(a *app) *cobra.Command {
	return a.delegated("sim", "The embedded Azure as a service, for test environments",
		`  # Serve a scenario, with a test cluster as the managed one
  salve sim serve wedged --kubeconfig test-cluster.yaml`)
}

// delegated is a command that the simulator executes: its flags and its help are there.
func (a *app) delegated(use, short, example string, leading ...string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short + " (" + simulator + ")", DisableFlagParsing: true, Example: example,
		RunE: func(_ *cobra.Command, arguments []string) error {
			path, err := findSimulator()
			if err != nil {
				return usage("%s not found: %v. hint: make build, or put %s of the same release beside salve",
					simulator, err, simulator)
			}
			if err := a.replace(path, append(append([]string{path}, leading...), arguments...), a.environment); err != nil {
				return fmt.Errorf("starting %q: %w", path, err)
			}
			return nil
		},
	}
}

// findSimulator looks beside this program, then on PATH.
func findSimulator() (string, error) {
	self, err := os.Executable()
	if err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			beside := filepath.Join(filepath.Dir(self), simulator)
			if path, err := exec.LookPath(beside); err == nil {
				return path, nil
			}
		}
	}
	path, onPath := exec.LookPath(simulator)
	if onPath == nil {
		return path, nil
	}
	return "", errors.Join(err, fmt.Errorf("neither in %s nor on PATH", filepath.Dir(self)))
}
