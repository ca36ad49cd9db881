package chat

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"salve/internal/lazyregexp"
)

var (
	statusEmoji  = lazyregexp.New(`\s*:[a-z0-9_+\-]+:$`)
	parentheses  = lazyregexp.New(`\([^()]*\)`)
	linkedName   = lazyregexp.New(`^\[([^\[\]]+)\]\([^()\s]*\)$`)
	escapedPunct = lazyregexp.New(`\\([\\_*.\-\[\]()~])`)
)

// personName is the name in a header, whether it is a bot's, and whether a person or bot can be called that: prose
// that ends with a time ("we rolled back at 9:12 AM") is no name.
func personName(text string) (name string, bot, ok bool) {
	name = strings.Trim(strings.TrimSpace(text), ",")
	if m := linkedName.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	name = escapedPunct.ReplaceAllString(strings.Trim(name, "*"), "$1")
	name = strings.TrimPrefix(strings.TrimSpace(statusEmoji.ReplaceAllString(name, "")), "@")
	for _, mark := range []string{"APP", "BOT", "WORKFLOW", "(bot)", "[bot]", "(app)"} {
		if rest, marked := strings.CutSuffix(name, mark); marked && (rest == "" || strings.HasSuffix(rest, " ")) {
			name, bot = strings.TrimSpace(rest), true
			break
		}
	}
	return name, bot, plausible(name)
}

func plausible(name string) bool {
	plainName := strings.TrimSpace(parentheses.ReplaceAllString(name, ""))
	first, _ := utf8.DecodeRuneInString(plainName)
	words := strings.Fields(plainName)
	switch {
	case plainName == "", utf8.RuneCountInString(name) > 80, len(words) > 6,
		!unicode.IsLetter(first) && !unicode.IsDigit(first) && first != '_',
		strings.IndexFunc(plainName, unicode.IsLetter) < 0,
		strings.ContainsAny(plainName, "\"=;!?{}<>`\\:/[]#"), clockLike.MatchString(plainName):
		return false
	}
	if before, _, comma := strings.Cut(plainName, ","); comma && (len(words) > 4 || strings.Contains(before, " ")) {
		return false
	}
	if last := words[len(words)-1]; strings.HasSuffix(last, ".") && len(last) > 4 {
		return false
	}
	return !slices.ContainsFunc(words, notOfNames)
}

// notOfNames are small words of prose, and the levels of logs.
func notOfNames(word string) bool {
	switch word {
	case "the", "a", "at", "is", "are", "was", "were", "to", "in", "on", "we", "it", "and", "from", "since", "until",
		"around", "by", "back", "about", "before", "after", "after:", "of", "for", "with", "this", "that", "not", "be",
		"has", "have", "had", "see", "log", "logs", "till", "between", "there", "they", "you", "i", "I", "again", "now",
		"started", "starts", "ended", "done", "fixed", "down", "deployed", "rolled", "merged", "seen", "log:", "up",
		"ERROR", "WARN", "WARNING", "INFO", "DEBUG", "FATAL", "TRACE", "error", "warning", "info", "debug", "fatal",
		"Today", "Yesterday", "today", "yesterday":
		return true
	}
	return false
}
