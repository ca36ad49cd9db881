package change

import (
	"cmp"
	"slices"
	"strings"
)

// Status is what happened to a file.
type Status string

// What may happen to a file.
const (
	Added    Status = "added"
	Modified Status = "modified"
	Deleted  Status = "deleted"
	Renamed  Status = "renamed"
	Copied   Status = "copied"
)

// File is one file of a change. Paths have slashes, begin at the repository's root, and hold U+FFFD for control
// characters and what is not UTF-8.
type File struct {
	Path    string // for a deleted file the one that it had
	OldPath string // for a renamed or copied file alone
	Status  Status
	Added   int // lines
	Removed int // lines
	Binary  bool
}

// Change is what is under test. One without files is what git gives for a base that has everything already: it says
// nothing about any failure.
type Change struct {
	Source string // where it was read from, for the report
	Files  []File // by path, each once
}

// Touches says whether the place of a failure may lie in a file of the change, by whole path segments. A place may be
// short (node.go, node/node.go), and is then that of every file that ends so: who knows the package puts it before.
// Or it is longer than the file's path, as a machine's that built the program (/go/src/…/pkg/node/node.go): then the
// file has to lie in a folder, since a name alone, such as main.go, ends many paths.
func (c *Change) Touches(file string) bool {
	place := segments(file)
	return slices.ContainsFunc(c.Files, func(f File) bool {
		return mayBe(place, segments(f.Path)) || f.Status == Renamed && mayBe(place, segments(f.OldPath))
	})
}

func mayBe(place, path []string) bool {
	if len(place) == 0 || len(path) == 1 && len(place) > 1 {
		return false
	}
	shared := min(len(place), len(path))
	return slices.Equal(place[len(place)-shared:], path[len(path)-shared:])
}

// segments are a path's names; . and empty ones, a drive's letter and backslashes are nothing to compare.
func segments(path string) []string {
	names := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.DeleteFunc(names, func(name string) bool { return name == "." || strings.HasSuffix(name, ":") })
}

// merge puts the patches of several commits together, the oldest first: each file is there once.
func merge(files []File) []File {
	slices.SortStableFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	merged := files[:0]
	for _, f := range files {
		if last := len(merged) - 1; last >= 0 && merged[last].Path == f.Path {
			merged[last] = f.after(merged[last])
			continue
		}
		merged = append(merged, f)
	}
	return merged
}

// after is the file of a later patch together with what an earlier one did to it.
func (f File) after(earlier File) File {
	f.Added += earlier.Added
	f.Removed += earlier.Removed
	f.Binary = f.Binary || earlier.Binary
	if f.Status == Modified {
		f.Status, f.OldPath = earlier.Status, earlier.OldPath
	}
	if earlier.Status == Deleted && f.Status != Deleted {
		f.Status = Modified // it was taken away and came back
	}
	return f
}
