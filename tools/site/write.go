package main

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

//go:embed page.html
var layout string

//go:embed style.css
var style []byte

// largest is how much of a file of the repository is shown.
const largest = 1 << 20

// shown is a page for the layout.
type shown struct {
	Title, Source, Up string
	Body              template.HTML
	Headings          []heading
	Groups            []shownGroup
}

type shownGroup struct {
	Title string
	Items []item
	// Open: the page that is shown is among them.
	Open bool
}

type item struct {
	Title, Address string
	Here           bool
}

// write writes all files of the site. A folder that holds something else is left alone.
func (s *site) write(out string) error {
	if err := s.clear(out); err != nil {
		return err
	}
	pattern, err := template.New("page").Parse(layout)
	if err != nil {
		return err
	}
	groups := s.navigation()
	for source, p := range s.pages {
		body := template.HTML(p.body) // of its own HTML checkHTML has let nothing through that loads or runs
		of := shown{Title: p.title, Body: body, Headings: p.headings}
		if err := s.writePage(out, pattern, groups, source, of); err != nil {
			return err
		}
	}
	for source := range s.sources {
		body, err := s.listing(source)
		if err != nil {
			return err
		}
		if err := s.writePage(out, pattern, groups, source, shown{Title: source, Body: body}); err != nil {
			return err
		}
	}
	for source := range s.folders {
		body, err := s.contents(source)
		if err != nil {
			return err
		}
		if err := s.writePage(out, pattern, groups, source, shown{Title: source, Body: body}); err != nil {
			return err
		}
	}
	for source := range s.pictures {
		if err := s.copyFile(out, source); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(out, "style.css"), style, 0o644)
}

// clear empties a folder that holds a site, and makes one that is not there.
func (s *site) clear(out string) error {
	entries, err := os.ReadDir(out)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	case len(entries) > 0:
		if _, err := os.Stat(filepath.Join(out, "style.css")); err != nil {
			return fmt.Errorf("%s holds something else than a site: nothing is written there", out)
		}
		if err := os.RemoveAll(out); err != nil {
			return err
		}
	}
	return os.MkdirAll(out, 0o755)
}

func (s *site) writePage(out string, pattern *template.Template, groups []group, source string, of shown) error {
	address := s.address(source)
	of.Source, of.Up = source, relative(address, "")
	for _, group := range groups {
		to := shownGroup{Title: group.Title}
		for _, page := range group.Pages {
			here := page == source
			name := group.Names[page]
			if name == "" {
				name = s.pages[page].title
			}
			to.Items = append(to.Items, item{name, relative(address, s.address(page)), here})
			to.Open = to.Open || here
		}
		of.Groups = append(of.Groups, to)
	}
	name := filepath.Join(out, filepath.FromSlash(address))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(pattern.Execute(file, of), file.Close())
}

// navigation is what docs/README.md lists, and behind it what it leaves out.
func (s *site) navigation() []group {
	listed := map[string]bool{"README.md": true, "docs/README.md": true}
	groups := []group{{Title: "Start", Pages: []string{"README.md", "docs/README.md"}}}
	for _, one := range s.pages["docs/README.md"].index {
		of := group{Title: one.Title, Names: one.Names}
		for _, page := range one.Pages {
			if s.pages[page] != nil && !listed[page] {
				listed[page] = true
				of.Pages = append(of.Pages, page)
			}
		}
		if len(of.Pages) > 0 {
			groups = append(groups, of)
		}
	}
	more := group{Title: "More"}
	for _, source := range s.order() {
		folder := path.Dir(source)
		if !listed[source] && (folder == "." || folder == "docs") {
			more.Pages = append(more.Pages, source)
		}
	}
	if len(more.Pages) > 0 {
		groups = append(groups, more)
	}
	return groups
}

// listing shows a file as it is.
func (s *site) listing(source string) (template.HTML, error) {
	raw, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(source)))
	if err != nil {
		return "", err
	}
	if len(raw) > largest || !utf8.Valid(raw) {
		return "", fmt.Errorf("%s is linked to and can't be shown: it is too large, or no text", source)
	}
	return template.HTML("<h1><code>" + template.HTMLEscapeString(source) + "</code></h1>\n<pre tabindex=\"0\"><code>" +
		template.HTMLEscapeString(string(raw)) + "</code></pre>\n"), nil
}

// contents lists a folder: pages by their titles, and other files that are shown.
func (s *site) contents(source string) (template.HTML, error) {
	var rows []string
	from := s.address(source)
	for _, name := range append(s.order(), sorted(s.sources)...) {
		if !strings.HasPrefix(name, source+"/") {
			continue
		}
		title := strings.TrimPrefix(name, source+"/")
		if p := s.pages[name]; p != nil {
			title = p.title
		}
		rows = append(rows, fmt.Sprintf(`<li><a href="%s">%s</a></li>`,
			template.HTMLEscapeString(relative(from, s.address(name))), template.HTMLEscapeString(title)))
	}
	if len(rows) == 0 {
		files, err := os.ReadDir(filepath.Join(s.root, filepath.FromSlash(source)))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			rows = append(rows, "<li><code>"+template.HTMLEscapeString(path.Join(source, file.Name()))+"</code></li>")
		}
	}
	return template.HTML("<h1><code>" + template.HTMLEscapeString(source) + "</code></h1>\n<ul>\n" +
		strings.Join(rows, "\n") + "\n</ul>\n"), nil
}

func (s *site) copyFile(out, source string) error {
	raw, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(source)))
	if err != nil {
		return err
	}
	name := filepath.Join(out, filepath.FromSlash(source))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, raw, 0o644)
}
