package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// site is what is built: everything by its path in the repository, with slashes.
type site struct {
	root  string
	pages map[string]*page
	// sources are files that are shown, folders those that are listed, pictures those that are copied.
	sources, folders, pictures map[string]bool
}

// build reads the documentation below root, checks it, and writes the site.
func build(root, out string) (pages int, err error) {
	s := &site{
		root: root, pages: map[string]*page{}, sources: map[string]bool{}, folders: map[string]bool{},
		pictures: map[string]bool{},
	}
	first, err := s.documentation()
	if err != nil {
		return 0, err
	}
	if err := s.read(first); err != nil {
		return 0, err
	}
	if err := s.checkLinks(); err != nil {
		return 0, err
	}
	return len(s.pages) + len(s.sources) + len(s.folders), s.write(out)
}

// documentation is where reading begins: the Markdown files of the root, and all below docs/.
func (s *site) documentation() (found []string, err error) {
	for _, name := range []string{"README.md", "docs/README.md"} {
		if _, err := os.Stat(filepath.Join(s.root, name)); err != nil {
			return nil, fmt.Errorf("%s is not a folder with documentation: %w", s.root, err)
		}
	}
	top, err := filepath.Glob(filepath.Join(s.root, "*.md"))
	if err != nil {
		return nil, err
	}
	for _, file := range top {
		found = append(found, filepath.Base(file))
	}
	err = fs.WalkDir(os.DirFS(s.root), "docs", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") {
			found = append(found, name)
		}
		return err
	})
	return found, err
}

// read reads pages, and all that they link to.
func (s *site) read(queue []string) error {
	for len(queue) > 0 {
		source := queue[0]
		queue = queue[1:]
		if s.pages[source] != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(source)))
		if err != nil {
			return err
		}
		made, err := newPage(source, text, s)
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		s.pages[source] = made
		for _, link := range made.links {
			if strings.HasSuffix(link.path, ".md") {
				queue = append(queue, link.path)
			}
		}
	}
	return nil
}

// resolve finds what a link leads to, and gives the address that the site has for it.
func (s *site) resolve(from, to string) (link, string, error) {
	target, fragment, _ := strings.Cut(to, "#")
	found := link{text: to, path: from, fragment: fragment}
	if target != "" {
		found.path = path.Join(path.Dir(from), target)
	}
	if found.path == ".." || strings.HasPrefix(found.path, "../") || path.IsAbs(target) {
		return found, "", fmt.Errorf("link %q leaves the repository", to)
	}
	info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(found.path)))
	if err != nil {
		return found, "", fmt.Errorf("dead link %q: %s not found", to, found.path)
	}
	if info.IsDir() {
		if _, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(found.path), "README.md")); err == nil {
			found.path = path.Join(found.path, "README.md")
		} else {
			s.folders[found.path] = true
		}
	}
	switch path.Ext(found.path) {
	case ".md":
	case ".svg", ".png":
		s.pictures[found.path] = true
	default:
		if !s.folders[found.path] {
			s.sources[found.path] = true
		}
	}
	address := relative(from, s.address(found.path))
	if target == "" {
		address = ""
	}
	if fragment != "" {
		address += "#" + fragment
	}
	return found, address, nil
}

// address is where the site has a file of the repository.
func (s *site) address(source string) string {
	switch {
	case s.pictures[source]:
		return source
	case s.folders[source]:
		return path.Join(source, "index.html")
	case path.Base(source) == "README.md":
		return path.Join(path.Dir(source), "index.html")
	case strings.HasSuffix(source, ".md"):
		return strings.TrimSuffix(source, ".md") + ".html"
	default:
		return source + ".html"
	}
}

// relative is the way from a file to an address: pages are opened from a disk too.
func relative(from, to string) string {
	if path.Dir(from) == "." {
		return to
	}
	return strings.Repeat("../", strings.Count(path.Dir(from), "/")+1) + to
}

// checkLinks finds links to headings that are not there.
func (s *site) checkLinks() error {
	var dead []error
	for _, source := range s.order() {
		for _, link := range s.pages[source].links {
			if link.fragment == "" {
				continue
			}
			if to := s.pages[link.path]; to == nil || !to.anchors[link.fragment] {
				dead = append(dead, fmt.Errorf("%s: dead link %q: %s has no heading #%s",
					source, link.text, link.path, link.fragment))
			}
		}
	}
	return errors.Join(dead...)
}

// order is that of the pages' paths.
func (s *site) order() []string { return sorted(s.pages) }

func sorted[T any](of map[string]T) []string {
	var keys []string
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
