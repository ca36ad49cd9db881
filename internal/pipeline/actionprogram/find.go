package actionprogram

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Prefix begins the name of each program: the action's name follows, as pipelines write it.
const Prefix = "salve-action-"

// Program is what runs an action.
type Program struct {
	// Path is absolute.
	Path string `json:"path"`
	// SHA256 is that of its bytes when it was found, in hexadecimal.
	SHA256 string `json:"sha256"`
}

// Find finds the program of an action: the one that is named for it, where that isn't empty; else the one in the
// pipeline's folder; else the one on PATH. Without one there is none, and no error.
func Find(action, named, folder string) (*Program, error) {
	path := named
	if path == "" {
		path = filepath.Join(folder, Prefix+action)
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			if path, err = exec.LookPath(Prefix + action); errors.Is(err, exec.ErrNotFound) {
				return nil, nil
			} else if err != nil {
				return nil, fmt.Errorf("looking for %s%s on PATH: %w", Prefix, action, err)
			}
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("finding the program of action %s: %w", action, err)
	}
	sum, err := digest(path)
	if err != nil {
		return nil, fmt.Errorf("the program of action %s: %w", action, err)
	}
	return &Program{Path: path, SHA256: sum}, nil
}

// ParseNamed reads NAME=PROGRAM.
func ParseNamed(texts []string) (map[string]string, error) {
	named := map[string]string{}
	for _, text := range texts {
		action, path, found := strings.Cut(text, "=")
		if !found || action == "" || path == "" {
			return nil, fmt.Errorf("%q is no NAME=PROGRAM, such as CreateCertificate=./create-certificate", text)
		}
		if _, twice := named[action]; twice {
			return nil, fmt.Errorf("the action %s is given two programs", action)
		}
		named[action] = path
	}
	return named, nil
}

// unchanged refuses a program that is not the one that was found.
func (p Program) unchanged() error {
	sum, err := digest(p.Path)
	if err != nil {
		return err
	}
	if sum != p.SHA256 {
		return fmt.Errorf("%s is not the program any more that it was when the pipeline was planned: its SHA-256 was "+
			"%.12s… and is %.12s…", p.Path, p.SHA256, sum)
	}
	return nil
}

// digest reads a program that can be executed here.
func digest(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no regular file", path)
	case info.Mode()&0o111 == 0:
		return "", fmt.Errorf("%s is not executable. hint: chmod +x %s", path, path)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
