package kubetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Folder is the environment variable that names the folder with the programs; by
// default it is bin/control-plane in the module that the tests are in.
const Folder = "SALVE_CONTROL_PLANE"

func programs() []string {
	return []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kubectl"}
}

// findPrograms gives the folder that holds every program.
func findPrograms() (string, error) {
	folder, err := BuiltIn(Folder, "control-plane")
	if err != nil {
		return "", err
	}
	for _, name := range programs() {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return "", fmt.Errorf("%s is not in %s: run make control-plane, which builds it", name, folder)
		}
	}
	return folder, nil
}

// BuiltIn is the folder that an environment variable names, or else the one of that name in bin of the module that
// the tests are in.
func BuiltIn(variable, name string) (string, error) {
	if folder := os.Getenv(variable); folder != "" {
		return folder, nil
	}
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "bin", name), nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above " + start + ": name the folder of the programs in " + variable)
		}
	}
}
