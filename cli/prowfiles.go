package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	prowcheck "salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/gittree"
	"salve/internal/prow/manifest"
)

// prowFiles lead to a Prow instance's files.
type prowFiles struct {
	config       string
	jobs         string
	supplemental []string
	suffix       string
	manifests    string
}

// addFlags adds the flags, which can be spelt as those of Prow's checkconfig too.
func (p *prowFiles) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&p.config, "config", "", "`FILE`: Prow's config.yaml (also --config-path)")
	flags.StringVar(&p.jobs, "job-config", "", "`PATH` of the folder with jobs, or of one file (also --job-config-path)")
	flags.StringArrayVar(&p.supplemental, "supplemental", nil,
		"`FOLDER` with shards of config.yaml (also --supplemental-prow-config-dir)")
	flags.StringVar(&p.suffix, "supplemental-suffix", "",
		"how the shards' `NAMES` end (default _prowconfig.yaml; also --supplemental-prow-configs-filename-suffix)")
	flags.StringVar(&p.manifests, "manifests", "", "`FOLDER` with the Kubernetes manifests that Prow is deployed from")
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		switch name {
		case "config-path":
			name = "config"
		case "job-config-path":
			name = "job-config"
		case "supplemental-prow-config-dir":
			name = "supplemental"
		case "supplemental-prow-configs-filename-suffix":
			name = "supplemental-suffix"
		}
		return pflag.NormalizedName(name)
	})
}

// prowTree is where a Prow instance's files are in a file system.
type prowTree struct {
	files     fs.FS
	names     config.Files
	manifests string
}

// all are the paths in the file system that the user named.
func (t prowTree) all() []string {
	paths := append([]string{t.names.Config}, t.names.Supplemental...)
	for _, path := range []string{t.names.Jobs, t.manifests} {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// all are the paths that the user named.
func (p *prowFiles) all() []string {
	paths := []string{p.config}
	for _, path := range append([]string{p.jobs, p.manifests}, p.supplemental...) {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// open is the files as they lie in folders. All that was named must be there.
func (p *prowFiles) open() (prowTree, error) {
	working, err := folderOfWork()
	if err != nil {
		return prowTree{}, err
	}
	root := working
	for _, path := range p.all() {
		if _, err := os.Stat(path); err != nil {
			return prowTree{}, usage("%v", err)
		}
		absolute, err := filepath.Abs(path)
		if err != nil {
			return prowTree{}, fmt.Errorf("finding %s: %w", path, err)
		}
		for !within(root, absolute) {
			root = filepath.Dir(root)
		}
	}
	return p.below(os.DirFS(root), root, working)
}

func within(root, path string) bool {
	relative, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(relative)
}

// below names the files inside a file system of a root. Positions are seen from the
// working folder.
func (p *prowFiles) below(files fs.FS, root, working string) (prowTree, error) {
	prefix, err := filepath.Rel(working, root)
	if err != nil || prefix == "." {
		prefix = ""
	}
	var wrong error
	name := func(path string) string {
		if path == "" {
			return ""
		}
		inside, err := insideOf(root, path)
		wrong = errors.Join(wrong, err)
		return inside
	}
	tree := prowTree{files: files, manifests: name(p.manifests), names: config.Files{Config: name(p.config),
		Jobs: name(p.jobs), Suffix: p.suffix, Root: filepath.ToSlash(prefix)}}
	for _, folder := range p.supplemental {
		tree.names.Supplemental = append(tree.names.Supplemental, name(folder))
	}
	return tree, wrong
}

// insideOf is a path as seen from a root, with slashes.
func insideOf(root, path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", path, err)
	}
	relative, err := filepath.Rel(root, absolute)
	if err == nil && !filepath.IsLocal(relative) {
		// git names a root by its real path; the last part may be a link itself.
		if folder, evaluated := filepath.EvalSymlinks(filepath.Dir(absolute)); evaluated == nil {
			relative, err = filepath.Rel(root, filepath.Join(folder, filepath.Base(absolute)))
		}
	}
	if err != nil || !filepath.IsLocal(relative) {
		return "", usage("%s is outside of %s", path, root)
	}
	return filepath.ToSlash(relative), nil
}

// revisionTree is where the same files are in a revision of the repository that they are in.
type revisionTree struct {
	prowTree
	root, commit string
	// left are entries at or below these paths that could not be followed.
	left []gittree.Left
}

// readRevision reads the same files as they are in a revision. The error is a *gittree.RefError where git knows no such
// commit, and of class usage where there is no repository.
func (p *prowFiles) readRevision(ctx context.Context, flag, ref string) (revisionTree, error) {
	root, err := gittree.Root(ctx, filepath.Dir(p.config))
	if err != nil {
		return revisionTree{}, usage("--%s: %v", flag, err)
	}
	working, err := folderOfWork()
	if err != nil {
		return revisionTree{}, err
	}
	if located, err := filepath.EvalSymlinks(working); err == nil {
		working = located
	}
	tree, err := p.below(nil, root, working)
	if err != nil {
		return revisionTree{}, err
	}
	revision, err := gittree.Read(ctx, root, ref, tree.all())
	var unknown *gittree.RefError
	switch {
	case errors.As(err, &unknown):
		return revisionTree{}, usage("--%s: %v", flag, err)
	case err != nil:
		return revisionTree{}, &unreadRevision{err}
	}
	tree.files = revision
	return revisionTree{tree, root, revision.Commit, revision.Left}, nil
}

// unreadRevision says that a revision is there and could not be read.
type unreadRevision struct{ error }

func (e *unreadRevision) Unwrap() error { return e.error }

// readBase reads the same files as they are in the revision to compare with.
func (r *prowCheckRequest) readBase(ctx context.Context) (*prowcheck.Base, error) {
	base := &prowcheck.Base{Name: r.base}
	tree, err := r.readRevision(ctx, "base", r.base)
	var unread *unreadRevision
	switch {
	case errors.As(err, &unread):
		base.Failed = unread.Error()
		return base, nil
	case err != nil:
		return nil, err
	}
	for _, left := range tree.left { // whatever else there is, is nothing that anybody reads
		if slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(left.Path)) || slices.Contains(tree.all(), left.Path) {
			base.Failed = fmt.Sprintf("revision %s: %s", r.base, left)
			return base, nil
		}
	}
	base.Config = config.Load(tree.files, tree.names)
	if tree.manifests != "" {
		base.Manifests = manifest.Read(tree.files, tree.manifests, tree.names.Root)
	}
	return base, nil
}
