package pipeline

import (
	"os"
	"path/filepath"
)

// RepositoryOf is the root of the git repository that a folder is in; empty where there is none.
func RepositoryOf(folder string) string {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	for at := absolute; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// root is the folder that steps may work in, and how messages call it: the one that was given, the repository's, or
// else the pipeline's own.
func (v *validator) root() (folder, called string) {
	switch {
	case v.in.Root != "":
		v.rootFolder, v.rootCalled = v.in.Root, "the folder "+v.in.Root
	case v.rootFolder != "":
	default:
		v.rootFolder, v.rootCalled = RepositoryOf(v.file.Folder()), "the repository"
		if v.rootFolder == "" {
			v.rootFolder, v.rootCalled = v.file.Folder(), "the pipeline's folder"
		}
	}
	return v.rootFolder, v.rootCalled
}

// leaves tells whether a path from the pipeline's folder leads out of a folder, as it is written.
func (v *validator) leaves(root, path string) bool {
	from, err := filepath.Abs(v.file.Folder())
	if err != nil {
		return true
	}
	if root, err = filepath.Abs(root); err != nil {
		return true
	}
	relative, err := filepath.Rel(root, filepath.Join(from, path))
	return err != nil || !filepath.IsLocal(relative)
}
