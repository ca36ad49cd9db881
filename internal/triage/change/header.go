package change

import (
	"errors"
	"strings"
)

// header is what stands before a file's hunks, and what they count to. Names are as they stand, unquoted.
type header struct {
	git       bool
	oldGit    string // of diff --git, with prefix; both empty if the line doesn't tell
	newGit    string
	merged    string // of diff --cc, without prefix
	old, new  string // of --- and +++
	from, to  string // of renames and copies, without prefix
	status    Status
	binary    bool
	added     int
	removed   int
	malformed bool
}

// names takes the first line of a file.
func (h *header) names(line string) {
	h.git = true
	for _, combined := range []string{"diff --cc ", "diff --combined "} {
		if name, found := strings.CutPrefix(line, combined); found {
			h.merged = h.unquote(name)
			return
		}
	}
	both := strings.TrimPrefix(line, "diff --git ")
	if strings.HasPrefix(both, `"`) || strings.HasSuffix(both, `"`) {
		h.oldGit, h.newGit = h.quotedPair(both)
		return
	}
	// Without quotes, and with blanks in names, only two names of the same length can be told apart.
	if half := len(both) / 2; len(both)%2 == 1 && both[half] == ' ' {
		h.oldGit, h.newGit = both[:half], both[half+1:]
	}
}

// quotedPair takes two names apart of which one at least has quotes.
func (h *header) quotedPair(both string) (before, after string) {
	if strings.HasPrefix(both, `"`) {
		end := closing(both)
		if end < 0 || end+2 > len(both) {
			return "", ""
		}
		return h.unquote(both[:end+1]), h.unquote(strings.TrimPrefix(both[end+1:], " "))
	}
	before, quoted, found := strings.Cut(both, ` "`)
	if !found {
		return "", ""
	}
	return before, h.unquote(`"` + quoted)
}

// closing is where the quotes end with which a text begins; below 0 if they don't.
func closing(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// takes says whether a line belongs to a file's header, and learns from it.
func (h *header) takes(line string) bool {
	if line == "GIT binary patch" {
		h.binary = true
		return true
	}
	names, differ := strings.CutSuffix(line, " differ")
	if differ && (strings.HasPrefix(names, "Binary files ") || strings.HasPrefix(names, "Files ")) {
		h.binary = true
		return true
	}
	for _, part := range []struct {
		prefix string
		learn  func(rest string)
	}{
		{"--- ", func(rest string) { h.old = h.name(rest) }},
		{"+++ ", func(rest string) { h.new = h.name(rest) }},
		{"rename from ", func(rest string) { h.status, h.from = Renamed, h.unquote(rest) }},
		{"rename to ", func(rest string) { h.to = h.unquote(rest) }},
		{"copy from ", func(rest string) { h.status, h.from = Copied, h.unquote(rest) }},
		{"copy to ", func(rest string) { h.to = h.unquote(rest) }},
		{"new file mode ", func(string) { h.status = Added }},
		{"deleted file mode ", func(string) { h.status = Deleted }},
		{"old mode ", nil}, {"new mode ", nil}, {"mode ", nil}, {"index ", nil},
		{"similarity index ", nil}, {"dissimilarity index ", nil}, {`\ `, nil},
	} {
		if rest, found := strings.CutPrefix(line, part.prefix); found {
			if part.learn != nil {
				part.learn(rest)
			}
			return true
		}
	}
	return false
}

// name is that of a --- or +++ line: a tab and a time may follow, and git writes a tab after a name with blanks.
func (h *header) name(rest string) string {
	if strings.HasPrefix(rest, `"`) {
		return h.unquote(rest)
	}
	rest, _, _ = strings.Cut(rest, "\t")
	return rest
}

// unquote takes C's quotes off a name, as git sets them: "na\303\244me\t".
func (h *header) unquote(name string) string {
	name = strings.TrimRight(name, "\t")
	if !strings.HasPrefix(name, `"`) {
		return name
	}
	end := closing(name)
	if end != len(name)-1 {
		h.malformed = true
		return ""
	}
	var plain strings.Builder
	for inner := name[1:end]; inner != ""; {
		if inner[0] != '\\' {
			plain.WriteByte(inner[0])
			inner = inner[1:]
			continue
		}
		value, size := escaped(inner[1:])
		if size == 0 {
			h.malformed = true
			return ""
		}
		plain.WriteByte(value)
		inner = inner[1+size:]
	}
	return plain.String()
}

// escaped is the byte that what follows a backslash stands for, and how many bytes that is; none for what git doesn't
// write.
func escaped(text string) (value byte, size int) {
	const letters, values = `abtnvfr"\`, "\a\b\t\n\v\f\r\"\\"
	if text == "" {
		return 0, 0
	}
	if at := strings.IndexByte(letters, text[0]); at >= 0 {
		return values[at], 1
	}
	if len(text) < 3 {
		return 0, 0
	}
	number := 0
	for _, digit := range []byte(text[:3]) {
		if digit < '0' || digit > '7' {
			return 0, 0
		}
		number = number*8 + int(digit-'0')
	}
	return byte(number), 3
}

const nowhere = "/dev/null"

// file is what the header says in all.
func (h *header) file() (File, error) {
	f := File{Status: h.status, Added: h.added, Removed: h.removed, Binary: h.binary}
	if f.Status == "" {
		f.Status = Modified
	}
	before, after := h.unprefixed(h.old, h.new)
	switch {
	case h.malformed:
		return File{}, errors.New("a quoted name that can't be read")
	case h.merged != "":
		f.Path = h.merged
	case h.from != "" && h.to != "":
		f.Path, f.OldPath = h.to, h.from
	case h.from != "" || h.to != "":
		return File{}, errors.New("a rename or copy with one name only")
	case h.new == nowhere && h.old != "":
		f.Path, f.Status = before, Deleted
	case h.old == nowhere && h.new != "":
		f.Path, f.Status = after, Added
	case h.new != "":
		f.Path = after
		if before != after && h.git {
			f.OldPath, f.Status = before, Renamed // git diff --no-index
		}
	case h.oldGit != "":
		before, after = h.unprefixed(h.oldGit, h.newGit)
		if f.Path = after; before != after {
			return File{}, errors.New("two names, and nothing says that the file was renamed")
		}
	}
	f.Path, f.OldPath = clean([]byte(f.Path)), clean([]byte(f.OldPath))
	if f.Path == "" || f.Path == nowhere {
		return File{}, errors.New("a file without a name")
	}
	return f, nil
}

// unprefixed takes git's prefixes off two names of a file: a/ and b/, or with diff.mnemonicPrefix i/, w/, c/ and o/.
// Where git's first line has the same name twice, there are none (diff.noprefix).
func (h *header) unprefixed(before, after string) (string, string) {
	if h.oldGit != "" && h.oldGit == h.newGit {
		return before, after
	}
	both := (prefixed(before) || before == nowhere) && (prefixed(after) || after == nowhere)
	if !both || before[:2] == after[:2] {
		return before, after
	}
	return strip(before), strip(after)
}

func prefixed(name string) bool {
	return len(name) > 2 && name[1] == '/' && strings.IndexByte("abiwco", name[0]) >= 0
}

func strip(name string) string {
	if name == nowhere {
		return name
	}
	return name[2:]
}
