package grouping

import "strings"

// The marks that stand for variable parts. They are all alike to a key: only people are told them apart.
const (
	markTime     = "<time>"
	markDuration = "<duration>"
	markUUID     = "<uuid>"
	markIP       = "<ip>"
	markMAC      = "<mac>"
	markHex      = "<hex>"
	markID       = "<id>"
	markNum      = "<num>"
	markSize     = "<size>"
	markURL      = "<url>"
	markPath     = "<path>"
	markNode     = "<node>"
)

// Mask replaces the parts of a line that differ from run to run: times, addresses, numbers, folders, random names.
// What is left is what the program's author wrote.
//
// Each rule is about a notation that many programs share; none knows a program. It takes time in proportion to the
// line's length.
func Mask(line string) string {
	m := masker{line: line}
	m.out.Grow(len(line))
	for m.at < len(line) {
		m.step()
	}
	return m.out.String()
}

// masker walks over a line once. Every rule looks at the text from where a word begins, and no rule looks twice at a
// byte that it has refused.
type masker struct {
	line string
	at   int
	out  strings.Builder

	hashed bool // the word before was hexadecimal and ended with "-": a random suffix may follow
	noun   bool // the word before is one that a machine's name follows
}

func (m *masker) step() {
	c := m.line[m.at]
	if !isWord(c) || m.at == 0 || !isWord(m.line[m.at-1]) {
		if mark, end := m.rule(c); end > m.at {
			m.replace(mark, end)
			return
		}
	}
	if isWord(c) {
		m.word()
		return
	}
	if c == '<' {
		if mark := markAt(m.line[m.at:]); mark != "" {
			m.replace(mark, m.at+len(mark))
			return
		}
	}
	m.hashed = m.hashed && c == '-'
	m.noun = m.noun && strings.IndexByte(" \"':/=", c) >= 0
	m.out.WriteByte(c)
	m.at++
}

// replace writes a mark for the text up to end.
func (m *masker) replace(mark string, end int) {
	m.hashed = mark == markHex || mark == markID
	m.noun = false
	m.out.WriteString(mark)
	m.at = end
}

// rule gives the mark for what begins here and where that ends, or an end of 0.
func (m *masker) rule(c byte) (string, int) {
	line, at := m.line, m.at
	switch {
	case m.noun && isAlnum(c):
		if end := nodeName(line, at); end > 0 {
			return markNode, end
		}
	case m.hashed && isLower(c):
		if end := randomSuffix(line, at); end > 0 {
			return markID, end
		}
	}
	switch {
	case isDigit(c):
		return digits(line, at)
	case (c == '-' || c == '+') && at+1 < len(line) && isDigit(line[at+1]) && signed(line, at):
		return digits(line, at+1)
	case (c == '<' || c == '>') && at+1 < len(line) && isDigit(line[at+1]) && (at == 0 || line[at-1] == ' '):
		mark, end := digits(line, at+1)
		if end == len(line) || line[end] != '>' { // "<1 sec" is a value, "<1>" stands in brackets
			return mark, end
		}
	case c == '/':
		return markPath, folders(line, at)
	case c == ':':
		return markIP, ipv6(line, at)
	case isLetter(c):
		return letters(line, at)
	}
	return "", 0
}

// digits is for what begins with a digit; the longest notation that fits is the right one.
func digits(line string, at int) (string, int) {
	if end := timestamp(line, at); end > 0 {
		return markTime, end
	}
	if end := uuid(line, at); end > 0 {
		return markUUID, end
	}
	if end := mac(line, at); end > 0 {
		return markMAC, end
	}
	if end := ipv4(line, at); end > 0 {
		return markIP, end
	}
	if end := ipv6(line, at); end > 0 {
		return markIP, end
	}
	if end := hexadecimal(line, at); end > 0 {
		return markHex, end
	}
	return number(line, at)
}

// letters is for what begins with a letter.
func letters(line string, at int) (string, int) {
	if end := url(line, at); end > 0 {
		return markURL, end
	}
	if end := drive(line, at); end > 0 {
		return markPath, end
	}
	if end := namedDate(line, at); end > 0 {
		return markTime, end
	}
	if !isHex(line[at]) {
		return "", 0
	}
	if end := uuid(line, at); end > 0 {
		return markUUID, end
	}
	if end := mac(line, at); end > 0 {
		return markMAC, end
	}
	if end := ipv6(line, at); end > 0 {
		return markIP, end
	}
	return markHex, hexadecimal(line, at)
}

// word copies a word, with its numbers masked; a word in which letters and digits alternate is a random name.
func (m *masker) word() {
	start, changes, digits := m.at, 0, 0
	end := start
	for ; end < len(m.line) && isWord(m.line[end]); end++ {
		if isDigit(m.line[end]) {
			digits++
		} else if end > start && isDigit(m.line[end-1]) && isLetter(m.line[end]) {
			changes++
		}
	}
	text := m.line[start:end]
	if changes >= 2 && len(text) >= 4 || changes == 1 && len(text) >= 4 && len(text) <= 6 && isDigit(text[0]) {
		m.replace(markID, end)
		return
	}
	m.at = end
	m.hashed = false
	m.noun = machineNoun(text)
	if digits == 0 {
		m.out.WriteString(text)
		return
	}
	for i := 0; i < len(text); {
		from := i
		for i < len(text) && !isDigit(text[i]) {
			i++
		}
		m.out.WriteString(text[from:i])
		if i < len(text) {
			m.out.WriteString(markNum)
		}
		padded := strings.HasPrefix(text[i:], "000")
		for i < len(text) && isDigit(text[i]) {
			i++
		}
		if padded && len(text)-i <= 3 { // a counter of base 36, as machines of Azure's scale sets have: vmss00001k
			i = len(text)
		}
	}
}

// markAt is the mark that a text begins with, or nothing.
func markAt(text string) string {
	if len(text) < len(markIP) || text[0] != '<' {
		return ""
	}
	var mark, other string
	switch text[1] {
	case 't':
		mark = markTime
	case 'd':
		mark = markDuration
	case 'u':
		mark, other = markUUID, markURL
	case 'i':
		mark, other = markIP, markID
	case 'm':
		mark = markMAC
	case 'h':
		mark = markHex
	case 'n':
		mark, other = markNum, markNode
	case 's':
		mark = markSize
	case 'p':
		mark = markPath
	}
	switch {
	case mark != "" && strings.HasPrefix(text, mark):
		return mark
	case other != "" && strings.HasPrefix(text, other):
		return other
	}
	return ""
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func isLetter(c byte) bool { return isLower(c | 0x20) }
func isAlnum(c byte) bool  { return isDigit(c) || isLetter(c) }
func isHex(c byte) bool    { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// isWord says whether a byte is of a word: all of a character beyond ASCII is.
func isWord(c byte) bool { return isAlnum(c) || c == '_' || c >= 0x80 }
