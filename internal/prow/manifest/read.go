package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// RuleUnreadable is the rule of Set.Unreadable.
const RuleUnreadable = "manifest-unreadable"

const (
	// maximumFile bounds a file in bytes; a custom resource definition has a few
	// hundred thousand.
	maximumFile = 8 << 20
	// maximumFiles and maximumTotal bound a folder.
	maximumFiles = 5_000
	maximumTotal = 128 << 20
)

// Read reads all manifests below a folder. Root is put before each path in positions.
func Read(files fs.FS, folder, root string) *Set {
	r := &reader{files: files, root: root, set: newSet(path.Join(root, folder))}
	if err := fs.WalkDir(files, path.Clean(folder), r.visit); err != nil {
		r.unreadable(folder, 0, err.Error())
	}
	r.set.sort()
	return r.set
}

// Parse reads the manifests of one file. Name stands for it in positions.
func Parse(name string, content []byte) *Set {
	r := &reader{set: newSet(name)}
	r.set.Files = 1
	r.documents(name, content)
	r.set.sort()
	return r.set
}

func newSet(folder string) *Set {
	return &Set{Folder: folder, ConfigMaps: map[string]ConfigMap{}, Secrets: map[string]diagnostic.Position{}}
}

type reader struct {
	files fs.FS
	root  string
	set   *Set
	bytes int64
}

func (r *reader) visit(name string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil:
		r.unreadable(name, 0, reason(err))
		if entry != nil && entry.IsDir() {
			return fs.SkipDir
		}
	case entry.IsDir():
		return r.folder(name)
	case entry.Type()&fs.ModeSymlink != 0 && r.isFolder(name):
		r.set.LeftAlone = append(r.set.LeftAlone, LeftAlone{Position: r.at(name, 0, 0),
			Reason: "a symbolic link to a folder, which is not followed"})
	case slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)):
		r.file(name)
		if r.set.Files > maximumFiles || r.bytes > maximumTotal {
			r.unreadable(name, 0, fmt.Sprintf("more than %d files or %d bytes", maximumFiles, maximumTotal))
			return fs.SkipAll
		}
	}
	return nil
}

func (r *reader) isFolder(name string) bool {
	info, err := fs.Stat(r.files, name)
	return err == nil && info.IsDir()
}

// folder leaves a folder alone whose files are not what is applied.
func (r *reader) folder(name string) error {
	if base := path.Base(name); len(base) > 1 && strings.HasPrefix(base, ".") && base != ".." {
		return fs.SkipDir
	}
	for _, made := range []struct{ file, tool string }{
		{"Chart.yaml", "Helm"}, {"kustomization.yaml", "kustomize"}, {"kustomization.yml", "kustomize"},
		{"Kustomization", "kustomize"},
	} {
		if _, err := fs.Stat(r.files, path.Join(name, made.file)); err == nil {
			r.set.LeftAlone = append(r.set.LeftAlone, LeftAlone{Position: r.at(path.Join(name, made.file), 0, 0),
				Reason: "made by " + made.tool + ", which is not run: render it, and check what it renders"})
			return fs.SkipDir
		}
	}
	return nil
}

func (r *reader) file(name string) {
	r.set.Files++
	file, err := r.files.Open(name)
	if err != nil {
		r.unreadable(name, 0, reason(err))
		return
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maximumFile+1))
	r.bytes += int64(len(content))
	switch {
	case err != nil:
		r.unreadable(name, 0, reason(err))
	case len(content) > maximumFile:
		r.unreadable(name, 0, fmt.Sprintf("more than %d bytes", maximumFile))
	default:
		r.documents(name, content)
	}
}

func (r *reader) documents(name string, content []byte) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = r.object(name, &document)
		}
		if err != nil {
			text, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
			if found := lineOf().FindStringSubmatch(text); found != nil {
				line, _ = strconv.Atoi(found[1])
			}
			r.unreadable(name, line, "invalid YAML: "+text)
			return
		}
	}
}

func lineOf() *regexp.Regexp { return regexp.MustCompile(`line (\d+): `) }

func (r *reader) at(name string, line, column int) diagnostic.Position {
	return diagnostic.Position{File: path.Join(r.root, name), Line: line, Column: column}
}

func (r *reader) unreadable(name string, line int, reason string) {
	column := min(line, 1)
	r.set.Unreadable = append(r.set.Unreadable, diagnostic.Diagnostic{Position: r.at(name, line, column),
		Severity: diagnostic.Error, Rule: RuleUnreadable, Message: reason})
}

func reason(err error) string {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}
