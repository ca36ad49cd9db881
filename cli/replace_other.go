//go:build !unix

package cli

import (
	"errors"
	"os"
	"os/exec"
)

// replaceProcess runs another program to its end and ends with its exit code, where a process can't be replaced.
func replaceProcess(path string, arguments, environment []string) error {
	command := exec.Command(path, arguments[1:]...)
	command.Env, command.Stdin, command.Stdout, command.Stderr = environment, os.Stdin, os.Stdout, os.Stderr
	err := command.Run()
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) {
		os.Exit(command.ProcessState.ExitCode())
	}
	return err
}
