package consistency

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"salve/internal/lazyregexp"
	"salve/journal"
)

// runLike is the name of a run, as the program makes it.
var runLike = lazyregexp.New(`\b\d{8}-\d{6}-[0-9a-f]{4,}\b`)

// mentions tells whether a text has a name, and not as a part of a longer one.
func mentions(text, name string) bool { return len(mentionsOf(text, name)) > 0 }

// mentionsOf are where a text has a name.
func mentionsOf(text, name string) []int {
	var found []int
	for from := 0; name != ""; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			break
		}
		at := from + i
		from = at + len(name)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, size := utf8.DecodeRuneInString(text[from:])
		if after == '.' { // it ends a sentence, unless a name goes on
			after, _ = utf8.DecodeRuneInString(text[from+size:])
		}
		if (at == 0 || !ofName(before) && before != '.') && !ofName(after) {
			found = append(found, at)
		}
	}
	return found
}

func ofName(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' || r == '/')
}

// namesStep tells whether a text names a step. A step that is called by a word of the language is meant only where
// the text calls it a step, or names its run.
func namesStep(text, step string, runNamed bool) bool {
	for _, at := range mentionsOf(text, step) {
		if runNamed || strings.ContainsAny(step, "-_/.0123456789") ||
			strings.HasSuffix(strings.ToLower(text[:at]), "step ") ||
			strings.HasPrefix(strings.ToLower(text[at+len(step):]), " step") {
			return true
		}
	}
	return false
}

func (r *toldRun) entry(number string) (journal.Entry, bool) {
	seq, _ := strconv.Atoi(number)
	for _, entry := range r.Entries {
		if entry.Seq == seq {
			return entry, true
		}
	}
	return journal.Entry{}, false
}

// missingSources finds citations of entries that the journal doesn't have.
func missingSources(d *document, run *toldRun) []Finding {
	var found []Finding
	for i, line := range d.lines {
		if len(found) >= maxFindings {
			break
		}
		seen := map[string]bool{}
		for _, source := range run.cites.FindAllStringSubmatch(line, -1) {
			if _, there := run.entry(source[1]); there || seen[source[1]] {
				continue
			}
			seen[source[1]] = true
			last := run.Entries[len(run.Entries)-1]
			f := d.finding(ContradictsJournal, []int{i + 1}, "there is no source %s: the last entry of that journal is %d",
				source[0], last.Seq)
			f.Quotes = append(f.Quotes, quoteEntry(run.History, last))
			found = append(found, f)
		}
	}
	return found
}
