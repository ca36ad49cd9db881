package grouping

import "strings"

// reading is what a failure says of itself, before anything is masked.
type reading struct {
	message  string
	frame    string
	place    place
	guessed  bool // the place is any that stood in the text
	anywhere bool // the message alone says too little, whatever its words are
}

// read puts together what the results say and what stands in the text. A text with a structure, such as a stack, tells
// more than the message that a reporter took from it; a log without one tells less.
func read(f Failure) reading {
	fromText, structured := readText(f.Text)
	said := fromText
	if !structured {
		fromMessage, _ := readText(f.Message)
		if !placeholder(fromMessage.message) || placeholder(fromText.message) {
			said.message, said.anywhere = fromMessage.message, fromMessage.anywhere
		}
		if fromMessage.frame != "" {
			said.frame = fromMessage.frame
		}
		if fromMessage.place.file != "" && (said.guessed || said.place.file == "" || !fromMessage.guessed) {
			said.place, said.guessed = fromMessage.place, fromMessage.guessed
		}
	}
	if class := f.Type[strings.LastIndexByte(f.Type, '.')+1:]; raised(class) && !strings.Contains(said.message, class) {
		said.message = strings.TrimSuffix(class+": "+said.message, ": ")
	}
	said.anywhere = said.anywhere || raisedByLanguage(said.message)
	if given := newPlace(f.File, f.Line); given.file != "" && (said.place.file == "" || said.guessed) {
		said.place = given
	}
	return said
}

// readText is what a text says, and whether it has a structure that one of the readers knows.
func readText(text string) (reading, bool) {
	lines := linesOf(text)
	for _, reader := range []func([]string) (reading, bool){ // those first that may hold another
		readGoPanic, readGoRace, readTestify, readGinkgo, readPytest, readTraceback, readStack, readRustPanic,
	} {
		if said, ok := reader(lines); ok {
			return said, true
		}
	}
	if said, ok := readGoLog(lines); ok {
		return said, false
	}
	return readPlain(lines), false
}

// linesOf splits a text at "\n", "\r\n" and "\r", without colours.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	return strings.Split(withoutColours(text), "\n")
}

// withoutColours leaves out ESC [ … m, the ESC of which a reader may have replaced by U+FFFD.
func withoutColours(text string) string {
	if !strings.Contains(text, "\x1b[") && !strings.Contains(text, "\ufffd[") {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	for at := 0; at < len(text); {
		escape := 0
		for _, introducer := range []string{"\x1b[", "\ufffd["} {
			if strings.HasPrefix(text[at:], introducer) {
				escape = len(introducer)
			}
		}
		if escape > 0 {
			end := at + escape
			for end < len(text) && (isDigit(text[end]) || text[end] == ';') {
				end++
			}
			if end < len(text) && (text[end] == 'm' || text[end] == 'K') {
				at = end + 1
				continue
			}
		}
		out.WriteByte(text[at])
		at++
	}
	return out.String()
}

// placeholder says whether a reporter had nothing to say.
func placeholder(message string) bool {
	switch strings.ToLower(strings.Trim(message, " .:!")) {
	case "", "fail", "failed", "failure", "error", "test failed", "test failure", "assertion failed", "null", "none":
		return true
	}
	return false
}

const messageLines = 4

// readPlain takes the first lines that say something, up to a diff or an object's insides.
func readPlain(lines []string) reading {
	var said reading
	said.message = firstLines(lines)
	for _, line := range lines[:min(len(lines), 200)] {
		if at := placeIn(line); at.file != "" {
			said.place, said.guessed = at, true
			break
		}
	}
	return said
}

// firstLines joins the first lines that say something.
func firstLines(lines []string) string {
	var taken []string
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if beginsDetails(line) {
			if len(taken) > 0 {
				break
			}
			continue
		}
		if line == "" || strings.Trim(line, "-=_*#~+ ") == "" {
			continue
		}
		if taken = append(taken, line); len(taken) == messageLines {
			break
		}
	}
	return strings.Join(taken, " ")
}

// beginsDetails says whether what follows is a diff, a dump or a stack.
func beginsDetails(line string) bool {
	for _, prefix := range []string{
		"@@ ", "--- ", "+++ ", "diff --git", "Diff:", "goroutine ", "Full Stack Trace", "In [",
		"There were additional failures",
	} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return line == "{" || line == "Stack:" || line == "Traceback:" || isStackLine(line)
}

// source says whether a place may be in a file with such an ending.
func source(ending string) bool {
	switch ending {
	case "c", "cc", "cjs", "cpp", "cs", "cxx", "ex", "exs", "fs", "go", "groovy", "h", "hpp", "java", "js", "jsx",
		"kt", "kts", "lua", "m", "mjs", "mm", "php", "pl", "py", "rb", "rs", "s", "scala", "sh", "swift", "ts",
		"tsx":
		return true
	}
	return false
}

// placeIn finds the first "file.go:12" of a line, also "file.cs:line 12".
func placeIn(line string) place {
	for from := 0; ; {
		colon := strings.IndexByte(line[from:], ':')
		if colon < 0 {
			return place{}
		}
		colon += from
		from = colon + 1
		digits := strings.TrimPrefix(line[from:min(len(line), from+20)], "line ")
		start := colon
		for start > 0 && (inPath(line[start-1]) || line[start-1] == '\\') {
			start--
		}
		name := line[start:colon]
		dot := strings.LastIndexByte(name, '.')
		if dot > 0 && source(name[dot+1:]) && digits != "" && isDigit(digits[0]) {
			return newPlace(name, leadingNumber(digits))
		}
	}
}

// leadingNumber is the number that a text begins with; one beyond all files' lengths is none.
func leadingNumber(text string) int {
	n := 0
	for i := 0; i < len(text) && isDigit(text[i]); i++ {
		if n = n*10 + int(text[i]-'0'); n > 10_000_000 {
			return 0
		}
	}
	return n
}
