package consistency

import (
	"html"
	"slices"
	"strings"

	"salve/internal/lazyregexp"
)

var (
	codeSpan   = lazyregexp.New("``[^\n]+?``|`[^`\n]*`")
	codeMark   = lazyregexp.New("\x01[^\x02\n]*\x02")
	address    = lazyregexp.New(`<?\b[a-z][a-z0-9+.-]{1,20}://[^\s<>)\]]+>?|\bwww\.[^\s<>)\]]+`)
	mail       = lazyregexp.New(`<?[\w.+-]+@[\w-]+\.[\w.-]+>?`)
	inlineLink = lazyregexp.New(`!?\[([^\[\]]*)\]\(([^()\n]*(?:\([^()\n]*\)[^()\n]*)?)\)`)
	fullRef    = lazyregexp.New(`!?\[([^\[\]]+)\]\[([^\[\]\n]*)\]`)
	anyRef     = lazyregexp.New(`\[[^\[\]]*[^\[\]\sxX][^\[\]]*\]`)
	definition = lazyregexp.New(`(?m)^[ ]{0,3}\[[^\[\]]+\]:\s*\S*.*$`)
	struck     = lazyregexp.New(`~~[^~\n]+~~`)
	commented  = lazyregexp.New(`<!--[^\n]*?-->`)
	lineBreak  = lazyregexp.New(`(?i)<br\s*/?>`)
	tag        = lazyregexp.New(`</?[a-zA-Z][^<>\n]{0,200}>`)
	emphasis   = lazyregexp.New(`\*{1,3}|_{2,3}`)
	underline  = lazyregexp.New(`(^|[\s(])_([^_\n]+)_([\s).,;:!?]|$)`)
	number     = lazyregexp.New(`(^|[\s(\[,/])(?:[\w.-]+/[\w.-]+)?#\d+\b`)
	ticket     = lazyregexp.New(`\b[A-Z][A-Z0-9]{1,9}-\d+\b|\bb/\d{4,}\b|\b(?i:PR|MR|bug|issue|ticket|incident) ` +
		`?[#!]?\d+\b`)
)

// blot stands for code and addresses, which claim nothing.
const blot = "·"

// Addresses of a host alone, and of an encyclopedia, are no place where work is tracked.
var (
	hostAlone    = lazyregexp.New(`(?i)^<?(?:[a-z][a-z0-9+.-]*://|www\.)[^/?#]*/?>?[.,;:!]*$`)
	encyclopedia = lazyregexp.New(`(?i)^<?[a-z]*:?(?://)?(?:[\w-]+\.)*(?:wikipedia|wiktionary)\.org(?:/|$)`)
)

func leadsToWork(target string) bool {
	target = strings.TrimSpace(target)
	return target != "" && !hostAlone.MatchString(target) && !encyclopedia.MatchString(target)
}

// plainText takes the marks of Markdown off. It takes time in the size of the text alone, and keeps lines as they are.
func plainText(raw string) (text, claims string, linked bool) {
	raw = strings.Map(func(r rune) rune {
		if r == 1 || r == 2 {
			return -1
		}
		return r
	}, raw)
	if !strings.ContainsAny(raw, "[]`<>&~*_\\#@:/") && !ticket.MatchString(raw) {
		return raw, raw, false // nothing is marked
	}
	text = definition.ReplaceAllString(raw, "")
	text = codeSpan.ReplaceAllStringFunc(text, func(code string) string {
		return "\x01" + strings.Trim(code, "`") + "\x02"
	})
	text = struck.ReplaceAllString(commented.ReplaceAllString(text, ""), "")
	for _, link := range inlineLink.FindAllStringSubmatch(text, -1) {
		linked = linked || leadsToWork(link[2])
	}
	linked = linked || fullRef.MatchString(text)
	text = inlineLink.ReplaceAllString(text, "$1")
	text = fullRef.ReplaceAllString(text, "$1")
	withoutCode := codeMark.ReplaceAllString(text, "")
	linked = linked || slices.ContainsFunc(address.FindAllString(withoutCode, -1), leadsToWork) ||
		number.MatchString(withoutCode) ||
		ticket.MatchString(withoutCode)
	for _, ref := range anyRef.FindAllString(withoutCode, -1) {
		linked = linked || !emptyMark.MatchString(ref)
	}
	text = mail.ReplaceAllString(address.ReplaceAllString(text, blot), blot)
	text = tag.ReplaceAllString(lineBreak.ReplaceAllString(text, " "), "")
	text = underline.ReplaceAllString(emphasis.ReplaceAllString(text, ""), "$1$2$3")
	text = unescape(text)
	claims = codeMark.ReplaceAllString(text, blot)
	return strings.NewReplacer("\x01", "", "\x02", "").Replace(text), claims, linked
}

// emptyMark is what stands in brackets and is no reference: a box to tick, a time, a state, a placeholder.
var emptyMark = lazyregexp.New(`(?i)^\[\s*(x|todo|tbd|tba|p\d|\d{1,2}:\d{2}.*|done|wip|open|closed|in progress|` +
	`not started|` +
	`pending|high|medium|low|critical|prevent|mitigate|detect|process|repair|owner|name|link|ticket|\?*|n/?a|none|` +
	`(insert|add|fill)\b.*)\s*\]$`)

// unescape makes entities and escaped characters what they stand for; what would be a control character stays out.
func unescape(text string) string {
	if strings.Contains(text, "&") {
		text = strings.Map(func(r rune) rune {
			if r < ' ' && r != '\n' && r != '\t' && r > 2 {
				return -1
			}
			if r == '\u00a0' {
				return ' '
			}
			return r
		}, html.UnescapeString(strings.ReplaceAll(text, "&#10;", " ")))
	}
	return escaped.ReplaceAllString(text, "$1")
}

var escaped = lazyregexp.New(`\\([\\*_{}\[\]()#+.!|<>~-])`)
