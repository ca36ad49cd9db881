package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licensesName is the file with the licenses of all that is linked into a program, beside LICENSE, which is its own.
const licensesName = "THIRD_PARTY_LICENSES.txt"

// isLicense tells the files that licenses ask to be handed on with the binary.
var isLicense = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-._].*)?$`)

// isSource tells code that is called as a license is, such as license.go.
var isSource = regexp.MustCompile(`(?i)\.(go|s|c|h|sh|py|js)$`)

// linked is a package that a program is linked from, as go list prints it.
type linked struct {
	ImportPath, Dir string
	Standard        bool
	Module          *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path, Version string }
	}
}

// writeLicenses writes what a program is linked from, on any of its platforms, with the licenses of that.
func writeLicenses(program string, platforms []string, into string) error {
	packages, err := linkedInto(program, platforms)
	if err != nil {
		return err
	}
	text, err := licensesOf(packages)
	if err != nil {
		return fmt.Errorf("licenses of %s: %w", program, err)
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(into, licensesName), text, 0o644)
}

// linkedInto are the packages of a program on its platforms, each once.
func linkedInto(program string, platforms []string) ([]linked, error) {
	all := map[string]linked{}
	for _, platform := range platforms {
		system, architecture, ok := strings.Cut(platform, "/")
		if !ok {
			return nil, fmt.Errorf("invalid platform %q: want one such as linux/amd64", platform)
		}
		list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,Module", program)
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		raw, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list -deps %s for %s: %w", program, platform, err)
		}
		for decoder := json.NewDecoder(bytes.NewReader(raw)); ; {
			var one linked
			if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("go list -deps %s: %w", program, err)
			}
			all[one.ImportPath] = one
		}
	}
	var packages []linked
	for _, path := range slices.Sorted(maps.Keys(all)) {
		packages = append(packages, all[path])
	}
	return packages, nil
}

// licensesOf is the text: each license once, under the names of what has it. A module without any is an error, because
// nobody may hand it on.
func licensesOf(packages []linked) ([]byte, error) {
	holders, bare := map[string]map[string]bool{}, map[string]bool{}
	for _, one := range packages {
		name, root := one.origin()
		if name == "" {
			continue
		}
		texts, err := licensesAbove(one.Dir, root)
		if err != nil {
			return nil, err
		}
		if len(texts) == 0 {
			bare[name] = true
		}
		for _, text := range texts {
			if holders[text] == nil {
				holders[text] = map[string]bool{}
			}
			holders[text][name] = true
		}
	}
	if len(bare) > 0 {
		return nil, fmt.Errorf("no license found of %s", strings.Join(slices.Sorted(maps.Keys(bare)), ", "))
	}
	sections := map[string]string{}
	for text, names := range holders {
		heading := strings.Join(slices.Sorted(maps.Keys(names)), "\n")
		sections[heading+"\n\n"+text] = text
	}
	var whole bytes.Buffer
	fmt.Fprintln(&whole, "This program is linked from the following, under the licenses given with each.")
	for _, section := range slices.Sorted(maps.Keys(sections)) {
		fmt.Fprintf(&whole, "\n%s\n\n%s\n", strings.Repeat("=", 80), strings.TrimSpace(section))
	}
	return whole.Bytes(), nil
}

// origin is what a package is of, with its version, and the folder of that; no name is the program's own module.
func (l linked) origin() (name, root string) {
	switch {
	case l.Standard:
		return "The Go standard library", strings.TrimSuffix(l.Dir, filepath.FromSlash("/src/"+l.ImportPath))
	case l.Module == nil || l.Module.Main:
		return "", ""
	case l.Module.Replace != nil:
		return l.Module.Replace.Path + " " + l.Module.Replace.Version, l.Module.Dir
	}
	return l.Module.Path + " " + l.Module.Version, l.Module.Dir
}

// licensesAbove are those of a folder and of all above it up to the root of its module: a part may have one of its own.
func licensesAbove(folder, root string) (texts []string, _ error) {
	for {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if entry.IsDir() || !isLicense.MatchString(entry.Name()) || isSource.MatchString(entry.Name()) {
				continue
			}
			raw, err := os.ReadFile(filepath.Join(folder, entry.Name()))
			if err != nil {
				return nil, err
			}
			texts = append(texts, strings.ReplaceAll(strings.TrimSpace(string(raw)), "\r\n", "\n"))
		}
		above := filepath.Dir(folder)
		if folder == filepath.Clean(root) || above == folder {
			return texts, nil
		}
		folder = above
	}
}
