package build

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// workspace is where it is remembered what was built in a folder, and what was there
// before. Its files:
//
//	stamp.json   the inputs of the last build and the outputs it left
//	aside.json   while a build goes on: which programs there were
//	aside/       copies of them
type workspace struct{ folder, state string }

func nameOf(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:12])
}

// mark is carried by all processes of a build.
func (r workspace) mark() string { return "build-" + filepath.Base(r.state) }

func (r workspace) path(name string) string { return filepath.Join(r.state, name) }

// stamp is a build that succeeded.
type stamp struct {
	Key string `json:"key"`
	// Outputs are the files that it made or changed, and the programs, with their
	// contents' hashes.
	Outputs map[string]string `json:"outputs"`
}

// holds tells whether the last build had the same inputs and all that it made is
// still there as it was. What can't be read is no reason to skip a build.
func (r workspace) holds(key string) bool {
	var last stamp
	if err := readJSON(r.path("stamp.json"), &last); err != nil || last.Key != key {
		return false
	}
	for path, sum := range last.Outputs {
		content, err := digest(filepath.Join(r.folder, path))
		if err != nil || content != sum {
			return false
		}
	}
	return true
}

// outputs are what the last build made.
func (r workspace) outputs() []string {
	var last stamp
	if err := readJSON(r.path("stamp.json"), &last); err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(last.Outputs))
}

// keep ends a build that succeeded. From the moment on in which aside.json is
// gone, the new programs stay; a stamp whose outputs were taken back is no match.
func (r workspace) keep(key string, outputs []string) error {
	made := stamp{Key: key, Outputs: map[string]string{}}
	for _, path := range outputs {
		sum, err := digest(filepath.Join(r.folder, path))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a link that leads nowhere
		}
		if err != nil {
			return fmt.Errorf("reading what was built: %w", err)
		}
		made.Outputs[path] = sum
	}
	if err := writeJSON(r.path("stamp.json"), made); err != nil {
		return fmt.Errorf("remembering the build: %w", err)
	}
	if err := os.Remove(r.path("aside.json")); err != nil {
		return err
	}
	return os.RemoveAll(r.path("aside"))
}

// finish makes a program that was built executable, and durable before the old
// one is given up.
func (r workspace) finish(path string, built bool) error {
	absolute := filepath.Join(r.folder, path)
	info, err := os.Stat(absolute)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // examining it will say so
	}
	if err == nil && built && info.Mode()&0o111 == 0 {
		err = os.Chmod(absolute, info.Mode()|0o111&(info.Mode()>>2))
	}
	if err == nil && built {
		err = syncFile(absolute)
	}
	return err
}

// aside is a program as it was before a build.
type aside struct {
	Path string `json:"path"`
	// Copy is its content; empty when it was not there.
	Copy string      `json:"copy,omitempty"`
	Mode fs.FileMode `json:"mode,omitempty"`
}

// setAside copies the programs, and then announces the build. The stamp goes
// first: it would be wrong as soon as the build begins.
func (r workspace) setAside(programs []string) error {
	if err := os.Remove(r.path("stamp.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := errors.Join(os.RemoveAll(r.path("aside")), os.Mkdir(r.path("aside"), 0o700)); err != nil {
		return err
	}
	kept := []aside{}
	for i, path := range programs {
		info, err := os.Stat(filepath.Join(r.folder, path))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			kept = append(kept, aside{Path: path})
			continue
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			continue // a folder is no program, and examining it will say so
		}
		one := aside{Path: path, Copy: filepath.Join("aside", fmt.Sprint(i)), Mode: info.Mode().Perm()}
		if err := copyFile(filepath.Join(r.folder, path), r.path(one.Copy), one.Mode); err != nil {
			return err
		}
		kept = append(kept, one)
	}
	return writeJSON(r.path("aside.json"), kept)
}

// interrupted tells whether a build began and did not end.
func (r workspace) interrupted() bool {
	_, err := os.Lstat(r.path("aside.json"))
	return err == nil
}

// restore brings the programs back that were there before a build, each at once.
// It can be repeated, wherever it was cut off.
func (r workspace) restore() error {
	var kept []aside
	if err := readJSON(r.path("aside.json"), &kept); err != nil {
		return fmt.Errorf("reading what was there before the build: %w", err)
	}
	for _, one := range kept {
		path := filepath.Join(r.folder, one.Path)
		if one.Copy == "" {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("removing what a failed build left: %w", err)
			}
			continue
		}
		if err := replace(path, r.path(one.Copy), one.Mode); err != nil {
			return fmt.Errorf("bringing back %s: %w", one.Path, err)
		}
	}
	return errors.Join(os.Remove(r.path("aside.json")), os.RemoveAll(r.path("aside")))
}

// seen is what tells that a file was changed, without reading it.
type seen struct {
	size    int64
	changed time.Time
	mode    fs.FileMode
}

// survey looks at all files of the folder but git's own.
func (r workspace) survey() (map[string]seen, error) {
	files := map[string]seen{}
	err := filepath.WalkDir(r.folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // gone meanwhile
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(r.folder, path)
		files[inside] = seen{info.Size(), info.ModTime(), info.Mode()}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("looking at the pipeline's folder: %w", err)
	}
	return files, nil
}

// changed are the files that are new or not as they were.
func changed(before, after map[string]seen) []string {
	var paths []string
	for path, now := range after {
		if was, there := before[path]; !there || was != now {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// replace puts a copy of a file in the place of another, at once.
func replace(path, with string, mode fs.FileMode) error {
	next := path + ".salve-next"
	if err := copyFile(with, next, mode); err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return os.Rename(next, path)
}

// copyFile copies a file durably.
func copyFile(from, to string, mode fs.FileMode) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Chmod(mode), target.Sync(), target.Close())
}

func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

func readJSON(path string, into any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// writeJSON writes a file at once.
func writeJSON(path string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	next := path + ".next"
	if err := os.WriteFile(next, raw, 0o600); err != nil {
		return err
	}
	return errors.Join(syncFile(next), os.Rename(next, path))
}
