package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"salve/internal/simcli"
)

// TestExamplesOfTheSimulatorsAreRun: what each help of salve-sim shows is typed as it stands. serve goes as far as
// its kubeconfig, which is not there.
func TestExamplesOfTheSimulatorsAreRun(t *testing.T) {
	scenario, err := os.ReadFile(filepath.Join("..", "internal", "azuresim", "scenarios", "wedged.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range simcli.Options().Commands {
		t.Run(command.Name(), func(t *testing.T) {
			t.Parallel()
			s := &shell{folder: t.TempDir(), runs: map[string]string{}}
			if err := os.WriteFile(filepath.Join(s.folder, "scenario.yaml"), scenario, 0o600); err != nil {
				t.Fatal(err)
			}
			examples := typedExamples(command)
			if len(examples) == 0 {
				t.Error("no example")
			}
			for _, example := range examples {
				if !strings.HasPrefix(example, "salve-sim "+command.Name()+" ") {
					t.Errorf("%s: no example of %s", example, command.Name())
				}
				got, err := s.run(t, example)
				if err != nil {
					t.Fatalf("%s: %v", example, err)
				}
				switch missing := strings.Contains(got, "test-cluster.yaml: no such file"); {
				case command.Name() == "serve" && (s.last != 2 || !missing):
					t.Errorf("%s: exit code %d, and not for want of the kubeconfig:\n%s", example, s.last, got)
				case command.Name() != "serve" && s.last != 0:
					t.Errorf("%s: exit code %d:\n%s", example, s.last, got)
				}
			}
		})
	}
}

// typedExamples are the commands that a help shows.
func typedExamples(command *cobra.Command) (all []string) {
	for line := range strings.Lines(command.Example) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}
