package changedfiles

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"salve/internal/pipeline"
)

// Content stands for what the files hold that a pipeline refers to: of all that it
// names those that git tracks, and those that steps name themselves, unless the
// build step may have made them. What a build or a step makes must not count: it
// would make another pipeline of the one that is under way.
func Content(ctx context.Context, file *pipeline.File) (string, error) {
	repository, err := tracked(ctx, file.Folder())
	if err != nil {
		return "", err
	}
	counted := map[string]bool{}
	for _, name := range file.Names() {
		for _, path := range repository.under(name) {
			counted[path] = true
		}
	}
	for _, name := range file.Mentions() {
		if path, known := repository.holds(name); known {
			counted[path] = true
		}
	}
	for _, name := range file.Sources() {
		path, err := located(name)
		if err != nil {
			return "", err
		}
		counted[path] = true
	}
	return digest(file.Folder(), slices.Sorted(maps.Keys(counted)))
}

// digest is that of files, whose names are seen from a folder: it is the same on
// another machine.
func digest(folder string, paths []string) (string, error) {
	root, err := filepath.Abs(folder)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return "", fmt.Errorf("finding the pipeline's folder: %w", err)
	}
	sum := sha256.New()
	for _, path := range paths {
		name, err := filepath.Rel(root, path)
		if err == nil {
			err = add(sum, filepath.ToSlash(name), path)
		}
		if err != nil {
			return "", fmt.Errorf("reading what the pipeline names: %w", err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// repository are the files that git tracks. There are none outside of one.
type repository struct {
	root string
	// files are sorted paths from the root, with slashes.
	files []string
}

func tracked(ctx context.Context, folder string) (repository, error) {
	root, err := git(ctx, folder, "rev-parse", "--show-toplevel")
	if err != nil {
		return repository{}, ctx.Err() // no repository, or no git
	}
	r := repository{root: strings.TrimSuffix(root, "\n")}
	listed, err := git(ctx, r.root, "ls-files", "-z")
	if err != nil {
		return r, err
	}
	r.files = strings.Split(strings.TrimSuffix(listed, "\x00"), "\x00")
	slices.Sort(r.files)
	return r, nil
}

// holds tells whether git tracks a file, and where it is.
func (r repository) holds(name string) (path string, known bool) {
	if len(r.files) == 0 {
		return "", false
	}
	within, ok := inside(r.root, name)
	if !ok {
		return "", false
	}
	_, known = slices.BinarySearch(r.files, filepath.ToSlash(within))
	return filepath.Join(r.root, within), known
}

// under are the files that git tracks of a name: the file, or all in the folder.
func (r repository) under(name string) []string {
	if path, known := r.holds(name); known {
		return []string{path}
	}
	within, ok := inside(r.root, name)
	if !ok {
		return nil
	}
	prefix := filepath.ToSlash(within) + "/"
	if within == "." {
		prefix = ""
	}
	var paths []string
	first, _ := slices.BinarySearch(r.files, prefix)
	for _, file := range r.files[first:] {
		if !strings.HasPrefix(file, prefix) {
			break
		}
		paths = append(paths, filepath.Join(r.root, filepath.FromSlash(file)))
	}
	return paths
}

// largest bounds what is read of a file, in bytes. One that is larger, or that may
// not be read, counts by its size and the time of its last change.
const largest = 64 << 20

// add takes a file into the sum. A link counts by where it leads to, and a file
// that isn't there as that.
func add(sum hash.Hash, name, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(sum, "none %q\n", name)
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		fmt.Fprintf(sum, "link %q %q\n", name, to)
		return err
	case !info.Mode().IsRegular():
		fmt.Fprintf(sum, "other %q\n", name)
		return nil
	}
	fmt.Fprintf(sum, "file %q %t %d\n", name, info.Mode()&0o111 != 0, info.Size())
	if info.Size() > largest {
		fmt.Fprintf(sum, "changed %s\n", info.ModTime().UTC())
		return nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		fmt.Fprintf(sum, "changed %s\n", info.ModTime().UTC())
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(sum, io.LimitReader(file, largest))
	return err
}
