package results

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
)

// weight orders the lines of a log by how much they tell of its failure.
type weight int

const (
	lastLine weight = iota // any that isn't blank
	quiet                  // the words of a failure at the level of information or of a warning
	verdict                // that something failed, and not why: "exit status 1"
	failure                // an error's level or words
	traceback
	crash
	weights
)

// telling finds the line of a plain log that tells its failure best. All lines are seen, and of each its beginning.
type telling struct {
	limit   int // bytes of a line
	line    int // the number of the one that is read, from 1
	partial []byte
	long    bool // the rest of the line is passed over
	best    [weights]told
	block   []byte // the text of the crash or the last traceback
	taking  bool   // the block goes on
	awaited bool   // the traceback's message has not come yet
}

type told struct {
	text []byte
	line int
}

const blockLimit = 16 << 10

// piece takes the next bytes of the log, at most one line.
func (t *telling) piece(p []byte) {
	line, ended := bytes.CutSuffix(p, []byte("\n"))
	if room := t.limit - len(t.partial); !t.long && len(line) > room {
		line, t.long = line[:room], true
		t.take(append(t.partial, line...))
	}
	switch {
	case t.long:
	case !ended:
		t.partial = append(t.partial, line...)
		return
	case len(t.partial) > 0:
		t.take(append(t.partial, line...))
	default:
		t.take(line)
	}
	if t.partial = t.partial[:0]; ended {
		t.line++
		t.long = false
	}
}

// end is the line, and its number; empty where nothing but blank lines was seen.
func (t *telling) end() told {
	if len(t.partial) > 0 {
		t.take(t.partial)
	}
	for w := weights - 1; w >= 0; w-- {
		if len(t.best[w].text) > 0 {
			return t.best[w]
		}
	}
	return told{line: 1}
}

func (t *telling) take(line []byte) {
	trimmed := bytes.Trim(line, "\x00 \t\r")
	if t.taking = t.taking && len(t.block) < blockLimit; t.taking {
		t.block = append(append(t.block, '\n'), bytes.TrimRight(line, "\r")...)
	}
	if len(trimmed) == 0 {
		return
	}
	t.keep(lastLine, trimmed)
	if t.awaited && line[0] != ' ' && line[0] != '\t' { // behind the frames, which are indented
		t.awaited = false
		t.keep(traceback, trimmed)
		return
	}
	switch w := weigh(trimmed); {
	case w == lastLine, w == crash && len(t.best[crash].text) > 0: // the first crash is the others' cause
	case w == traceback && len(t.best[crash].text) > 0:
	default:
		t.keep(w, trimmed)
		if w == crash || w == traceback {
			t.block = append(t.block[:0], line...)
			t.taking, t.awaited = true, w == traceback
		}
	}
}

func (t *telling) keep(w weight, line []byte) {
	t.best[w] = told{append(t.best[w].text[:0], line...), t.line}
}

// weigh looks at the words of a line.
func weigh(line []byte) weight {
	most := lastLine
	for at := 0; at < len(line); at++ {
		switch char := line[at] | ' '; {
		case line[at] == 0x1b: // a colour ends with a letter
			at += 1 + max(0, bytes.IndexFunc(line[at+1:], unicode.IsLetter))
		case line[at] == ':' && (named(line[:at], "error") || named(line[:at], "exception")):
			most = max(most, failure) // ValueError: …
		case char >= 'a' && char <= 'z':
			if w, found := wordAt(line[at:]); found && !(w == failure && denied(line, at)) {
				most = max(most, w)
			}
			for at+1 < len(line) && wordly(line[at+1]) {
				at++
			}
			if at+1 < len(line) && line[at+1] == ':' && (named(line[:at+1], "error") || named(line[:at+1], "exception")) &&
				!denied(line, at+1) {
				most = max(most, failure)
			}
		}
	}
	switch {
	case most == lastLine:
	case calm.Match(line[:min(len(line), 120)]):
		return quiet
	case most == failure && outcomeOnly.Match(line):
		return verdict
	}
	return most
}

// word is what tells of a failure: at the beginning of a word, whatever its case, and followed by no letter.
type word struct {
	text string
	weight
}

// words are by first letter, so that most words of a line cost one look.
func words(first byte) []word {
	switch first {
	case 'a':
		return []word{{"aborted", failure}, {"abort", failure}}
	case 'b':
		return []word{{"bug: ", crash}}
	case 'c':
		return []word{
			{"cannot", failure}, {"can't", failure}, {"could not", failure}, {"couldn't", failure}, {"critical", failure},
		}
	case 'd':
		return []word{{"denied", failure}}
	case 'e':
		return []word{{"error", failure}, {"exception in thread", crash}, {"exception", failure}}
	case 'f':
		return []word{
			{"fatal error: ", crash}, {"fatal", failure}, {"failed", failure}, {"failure", failure}, {"fail", failure},
		}
	case 'k':
		return []word{{"kernel panic", crash}, {"killed", failure}}
	case 'n':
		return []word{{"no such file", failure}}
	case 'o':
		return []word{{"out of memory", failure}}
	case 'p':
		return []word{{"panic: ", crash}, {"panicked at", crash}}
	case 'r':
		return []word{{"refused", failure}}
	case 's':
		return []word{{"segmentation fault", crash}, {"severe", failure}}
	case 't':
		return []word{{"traceback (most recent call last)", traceback}, {"timed out", failure}}
	case 'u':
		return []word{{"unable to", failure}, {"unhandled exception", crash}}
	case 'w':
		return []word{{"warning: data race", crash}}
	}
	return nil
}

func wordAt(text []byte) (weight, bool) {
	for _, w := range words(text[0] | ' ') {
		end := len(w.text)
		if len(text) >= end && strings.EqualFold(string(text[:end]), w.text) &&
			(len(text) == end || w.text[end-1] == ' ' || !wordly(text[end])) {
			return w.weight, true
		}
	}
	return lastLine, false
}

func wordly(char byte) bool {
	return char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char >= '0' && char <= '9' || char == '_'
}

// named says whether a name ends so, as those of errors do.
func named(name []byte, end string) bool {
	return len(name) > len(end) && strings.EqualFold(string(name[len(name)-len(end):]), end)
}

// denied says that there was none: "0 failed", "no error", "error: nil".
func denied(line []byte, at int) bool {
	return none.Match(line[max(0, at-10):at]) || nothing.Match(line[at:min(len(line), at+40)])
}

var (
	none    = regexp.MustCompile(`(?i)(^|[^0-9a-z.])(0|no|without|zero)( \w+)? $`)
	nothing = regexp.MustCompile(`(?i)^\w*"?\s*[=:]\s*("?(0|nil|null|none|<nil>|false)"?([,;}\s]|$)|"")`)
	// calm are the levels of lines that may speak of failures which were coped with.
	calm = regexp.MustCompile(`\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING)\b|` +
		`(?i)\blevel"?[=:]\s*"?(trace|debug|info|notice|warn)|^\W*(trace|debug|info|notice|warn|warning)\b\W|^[IW][0-9]{4} `)
	// outcomeOnly are the last words of what runs others.
	outcomeOnly = regexp.MustCompile(`^\W*(FAIL|FAILED)\b|^Finished: |(?i:\bexit(ed)?( with)?:? (status|code|value)|` +
		`\bexit code|\b[0-9]+ (tests? )?(failed|failures?|errors?)\b|^g?make(\[[0-9]+\])?: |\bmarked build as\b|` +
		`^\W*(error:? )?(the )?(build|tests?|job|run|suite|step|task|command)s? (has |have )?failed\W*$)`)
)
