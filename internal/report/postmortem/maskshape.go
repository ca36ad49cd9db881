package postmortem

import (
	"cmp"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// filesOf takes the names of the files that a draft cites.
func (m *mask) filesOf(sources Sources) {
	take := func(name string) {
		name = clean(name, eventRoom)
		for _, one := range []string{name, filepath.Base(name)} {
			if len(one) > 1 && !slices.Contains(m.files, one) {
				m.files = append(m.files, one)
			}
		}
	}
	for _, file := range sources.Watch {
		take(file.Name)
	}
	for _, file := range sources.Triage {
		take(file.Name)
	}
	for _, file := range sources.Notes {
		take(file.Name)
	}
	slices.SortFunc(m.files, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
}

// ofHome is a path below somebody's home, which names them.
var ofHome = regexp.MustCompile(`(?:~|/(?:home|Users|root))/[^\s<>"'|` + "`" + `)\]]+`)

// paths masks the names of the sources' files, and paths below a home.
func (m *mask) paths(text string) string {
	for _, file := range m.files {
		if strings.Contains(text, file) {
			text = strings.ReplaceAll(text, file, m.pseudonym("file", file))
		}
	}
	return ofHome.ReplaceAllStringFunc(text, func(found string) string { return m.pseudonym("file", found) })
}

// colons is what may be an IPv6 address; a time of day and a MAC are none.
var colons = regexp.MustCompile(`[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*[0-9A-Fa-f]|[0-9A-Fa-f:]+::`)

// addresses masks IPv6 addresses.
func (m *mask) addresses(text string) string {
	if !strings.Contains(text, ":") {
		return text
	}
	return colons.ReplaceAllStringFunc(text, func(found string) string {
		address, err := netip.ParseAddr(found)
		if err != nil {
			return found
		}
		return m.pseudonym("address", address.String())
	})
}
