package instance

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"salve/internal/prow/config"
)

// largestFile bounds config.yaml in bytes.
const largestFile = 8 << 20

// Namespaces are where a configuration puts ProwJobs and their pods.
type Namespaces struct{ ProwJobs, Pods string }

func (n Namespaces) String() string {
	return fmt.Sprintf("pods in %s, ProwJobs in %s", n.Pods, n.ProwJobs)
}

// Configuration is config.yaml of the instance as git has it.
type Configuration struct {
	// File is its whole path.
	File string
	Namespaces
	// Content is the file's, expanded where it is compressed.
	Content []byte
}

// ReadConfiguration reads config.yaml. The error is a *config.Error when Prow would not run with it.
func ReadConfiguration(file string) (*Configuration, error) {
	whole, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", file, err)
	}
	opened, err := os.Open(whole) //nolint:gosec // the user named the file
	if err != nil {
		return nil, fmt.Errorf("reading Prow's configuration: %w", err)
	}
	defer opened.Close()
	content, err := io.ReadAll(io.LimitReader(opened, largestFile+1))
	if err == nil && len(content) > largestFile {
		err = fmt.Errorf("more than %d bytes", largestFile)
	}
	if err != nil {
		return nil, fmt.Errorf("reading Prow's configuration %s: %w", file, err)
	}
	made := &Configuration{File: whole}
	made.Namespaces, made.Content, err = parse(file, content)
	return made, err
}

// parse gives the namespaces that the content of a config.yaml says, and the content expanded.
func parse(name string, content []byte) (Namespaces, []byte, error) {
	expanded, err := config.Expand(content)
	if err != nil {
		return Namespaces{}, nil, fmt.Errorf("%s: %w", name, err)
	}
	read, err := config.Parse(name, expanded).Config()
	if err != nil {
		return Namespaces{}, nil, err
	}
	// Prow takes what is empty for what is not written.
	const unset = "default"
	return Namespaces{ProwJobs: cmp.Or(read.ProwJobNamespace.Value, unset),
		Pods: cmp.Or(read.PodNamespace.Value, unset)}, expanded, nil
}

// same tells whether two contents are the same, but for how the last line ends.
func same(a, b []byte) bool {
	return bytes.Equal(bytes.TrimRight(a, "\r\n"), bytes.TrimRight(b, "\r\n"))
}
