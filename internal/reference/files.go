package reference

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Refresh is the command that writes all files of the reference.
const Refresh = "make reference"

// Write puts the files that describe a program into a folder, and removes those that nothing would refresh any more.
func Write(folder, program string, files map[string][]byte) error {
	old, err := strays(folder, program, files)
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // documentation is for everybody
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil { //nolint:gosec // documentation is for everybody
			return err
		}
	}
	return nil
}

// Stale says which files of a program are not what they would be if they were written now.
func Stale(folder, program string, files map[string][]byte) error {
	var stale []error
	for name, content := range files {
		switch written, err := os.ReadFile(filepath.Join(folder, name)); { //nolint:gosec // a page of this repository
		case errors.Is(err, os.ErrNotExist):
			stale = append(stale, fmt.Errorf("%s not found. hint: %s", filepath.Join(folder, name), Refresh))
		case err != nil:
			stale = append(stale, err)
		case !bytes.Equal(written, content):
			stale = append(stale, fmt.Errorf("%s is stale%s. hint: %s",
				filepath.Join(folder, name), firstDifference(written, content), Refresh))
		}
	}
	old, err := strays(folder, program, files)
	for _, path := range old {
		stale = append(stale, fmt.Errorf("%s describes what the program does not have. hint: %s", path, Refresh))
	}
	slices.SortFunc(stale, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(append(stale, err)...)
}

// strays are generated files of a program that are no longer among them. What a person wrote is not generated; schemas
// are of the program that has some.
func strays(folder, program string, files map[string][]byte) (old []string, err error) {
	patterns := []string{"*.md"}
	if slices.ContainsFunc(slices.Collect(maps.Keys(files)), isSchema) {
		patterns = append(patterns, "schemas/*.json")
	}
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			name, err := filepath.Rel(folder, path)
			if err != nil {
				return nil, err
			}
			if _, known := files[filepath.ToSlash(name)]; known {
				continue
			}
			content, err := os.ReadFile(path) //nolint:gosec // a page of this repository
			if err != nil {
				return nil, err
			}
			if isSchema(name) || bytes.HasPrefix(content, []byte(generated(program))) {
				old = append(old, path)
			}
		}
	}
	return old, nil
}

func isSchema(name string) bool { return strings.HasSuffix(name, ".json") }

// firstDifference names the first line that differs.
func firstDifference(written, content []byte) string {
	before, after := strings.Split(string(written), "\n"), strings.Split(string(content), "\n")
	for i := range after {
		if i >= len(before) || before[i] != after[i] {
			return fmt.Sprintf(": line %d would be %q", i+1, after[i])
		}
	}
	return ": it would be shorter"
}
