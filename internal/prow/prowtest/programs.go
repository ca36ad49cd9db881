package prowtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"salve/internal/kubetest"
)

// Folder is the environment variable that names the folder with Prow's programs; by default it is bin/prow in the
// module that the tests are in.
const Folder = "SALVE_PROW"

// Required is the environment variable that, when it is 1, makes a missing program a failure of the tests that need
// it, instead of a reason to skip them.
const Required = "SALVE_PROW_REQUIRED"

// Prow's programs.
const (
	Plank            = "prow-controller-manager"
	Sinker           = "sinker"
	Crier            = "crier"
	StatusReconciler = "status-reconciler"
	BranchProtector  = "branchprotector"
	CheckConfig      = "checkconfig"
)

// Program is the path of one of Prow's programs. The error of one that is not built says how to build it.
func Program(name string) (string, error) {
	folder, err := kubetest.BuiltIn(Folder, "prow")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("program %s of Prow is not in %s: run make prow, which builds it", name, folder)
	}
	return path, nil
}

// Need skips the test where a program is not built, or fails it where Required says so.
func Need(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		_, err := Program(name)
		switch {
		case err == nil:
		case os.Getenv(Required) == "1":
			t.Fatal(err)
		default:
			t.Skip(err)
		}
	}
}
