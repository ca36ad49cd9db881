package grouping

import (
	"path"
	"strings"
)

// readStack reads stacks of "at" lines, as the JVM, .NET and JavaScript print them, with the causes of the JVM. The
// message is that of the outermost error and of the innermost cause; the frame is where the cause was thrown.
func readStack(lines []string) (reading, bool) {
	var head []string
	var said reading
	cause, stacked, skipping := "", false, false
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "Suppressed: "):
			skipping = true
		case strings.HasPrefix(trimmed, "Caused by: "):
			if skipping && indent(line) > 0 { // a suppressed error's own cause
				continue
			}
			skipping = false
			cause = strings.TrimPrefix(trimmed, "Caused by: ")
			said.frame, said.place = "", place{}
		case isStackLine(trimmed):
			stacked = true
			if function, at := stackFrame(trimmed); !skipping && said.frame == "" && said.place.file == "" {
				said.frame, said.place = function, at
			}
		case !stacked:
			head = append(head, trimmed)
		}
	}
	if !stacked {
		return reading{}, false
	}
	said.message = firstLines(head)
	if cause != "" && !strings.HasSuffix(said.message, cause) {
		said.message = bounded(said.message, maxMessage/2) + "; caused by " + cause
	}
	return said, true
}

// isStackLine says whether a line is a frame: "at f(A.java:1)", "at f (/a/b.js:1:2)", "at /a/b.js:1:2",
// "at N.C.M(String a) in C:\a\b.cs:line 12", or what stands for frames that are left out.
func isStackLine(line string) bool {
	rest, found := strings.CutPrefix(line, "at ")
	if !found {
		return strings.HasPrefix(line, "... ") && strings.HasSuffix(line, " more")
	}
	if placeIn(rest).file != "" {
		return true
	}
	function, where, found := strings.Cut(rest, "(")
	switch where = strings.TrimSuffix(where, ")"); {
	case !found || where == "" && !strings.HasSuffix(rest, ")"):
		return false
	case where == "Native Method", where == "Unknown Source", where == "native", where == "<anonymous>":
		return true
	}
	numbers := where != "" && strings.Trim(where, "0123456789") == "" // no arguments, but a line as PHP writes it
	return strings.HasSuffix(rest, ")") && strings.Contains(function, ".") && !strings.Contains(function, " ") && !numbers
}

// stackFrame is a frame's function and place, or nothing if it is not of the project's own.
func stackFrame(line string) (string, place) {
	line = strings.TrimPrefix(strings.TrimPrefix(line, "at "), "async ")
	function, where, _ := strings.Cut(line, "(")
	function = strings.TrimSpace(function)
	if _, file, found := strings.Cut(line, ") in "); found { // .NET
		where = file
	}
	if where == "" {
		function, where = "", line
	}
	if slash := strings.LastIndexByte(function, '/'); slash >= 0 { // "java.base/", "app//"
		function = function[slash+1:]
	}
	if strings.Contains(where, "node_modules") {
		return "", place{}
	}
	for _, foreign := range []string{"node:", "internal/", "<anonymous>)", "native)"} {
		if strings.HasPrefix(where, foreign) {
			return "", place{}
		}
	}
	if foreignFunction(function) {
		return "", place{}
	}
	if strings.Contains(function, "<anonymous>") || strings.Contains(function, "<computed>") {
		function = ""
	}
	return function, placeIn(where)
}

// foreignFunction says whether a function is of a runtime or of a test framework.
func foreignFunction(function string) bool {
	for _, foreign := range []string{
		"java.", "javax.", "jdk.", "sun.", "com.sun.", "android.", "androidx.test.", "dalvik.", "kotlin.",
		"kotlinx.coroutines.", "scala.", "groovy.", "org.codehaus.groovy.", "org.junit.", "junit.",
		"org.testng.", "org.hamcrest.", "org.assertj.", "org.mockito.", "org.opentest4j.",
		"com.google.common.truth.", "org.gradle.", "org.apache.maven.", "io.kotest.", "org.scalatest.",
		"org.spockframework.", "io.cucumber.", "System.", "Microsoft.", "Xunit.", "NUnit.", "FluentAssertions.",
		"Moq.", "Shouldly.", "process.processTicksAndRejections", "Module._compile", "Promise.then",
	} {
		if strings.HasPrefix(function, foreign) {
			return true
		}
	}
	return false
}

// readTraceback reads the last traceback of Python, also one that a logger wrote with a prefix on every line.
func readTraceback(lines []string) (reading, bool) {
	const opening = "Traceback (most recent call last):"
	start, column := -1, 0
	for i, line := range lines {
		if at := strings.Index(line, opening); at >= 0 && strings.TrimSpace(line[at+len(opening):]) == "" {
			start, column = i, at
		}
	}
	if start < 0 {
		return reading{}, false
	}
	prefix := Mask(lines[start][:column])
	var said reading
	for _, line := range lines[start+1:] {
		if column > 0 && len(line) >= column && Mask(line[:column]) == prefix {
			line = line[column:]
		}
		trimmed := strings.TrimSpace(line)
		if file, found := strings.CutPrefix(trimmed, `File "`); found {
			if function, at, own := pythonFrame(file); own {
				said.frame, said.place = function, at
			}
			continue
		}
		if trimmed != "" && indent(line) == 0 {
			said.message = trimmed
			break
		}
	}
	if before := firstLines(lines[:start]); before != "" && start <= messageLines && column > 0 {
		said.message = bounded(before, maxMessage/2) + "; caused by " + said.message
	}
	return said, true
}

// pythonFrame reads `/a/b.py", line 12, in f`.
func pythonFrame(text string) (string, place, bool) {
	file, rest, found := strings.Cut(text, `"`)
	if !found || !ownPython(file) {
		return "", place{}, false
	}
	number, function, _ := strings.Cut(strings.TrimPrefix(rest, ", line "), ", in ")
	function = strings.TrimSpace(function)
	if function == "<module>" || function == "<lambda>" {
		function = ""
	}
	return function, newPlace(file, leadingNumber(number)), true
}

func ownPython(file string) bool {
	file = strings.ReplaceAll(file, `\`, "/")
	for _, foreign := range []string{
		"/site-packages/", "/dist-packages/", "/lib/python", "/lib64/python", "/Lib/", "<frozen ", "<string>", "/_pytest/",
		"/unittest/", "/pluggy/",
	} {
		if strings.Contains(file, foreign) {
			return false
		}
	}
	return true
}

// readPytest reads the report of pytest: "E" lines say what, "file.py:12: Class" lines where.
func readPytest(lines []string) (reading, bool) {
	var said reading
	function, inBlock := "", false
	for i, line := range lines {
		if text, found := strings.CutPrefix(line, "E  "); found && strings.TrimSpace(text) != "" {
			if !inBlock {
				said.message = firstLines(pytestBlock(lines[i:]))
			}
			inBlock = true
			continue
		}
		inBlock = false
		if name := pythonDefinition(line); name != "" {
			function = name
		}
		if strings.HasPrefix(line, " ") || said.message == "" && !strings.Contains(line, ".py:") {
			continue
		}
		file, rest, found := strings.Cut(line, ".py:")
		if found && rest != "" && isDigit(rest[0]) && ownPython(file) && !strings.Contains(file, " ") {
			said.frame, said.place = function, newPlace(path.Base(file)+".py", leadingNumber(rest))
		}
	}
	return said, said.message != ""
}

// pytestBlock are the first lines that pytest marks by an E, without what it explains them with.
func pytestBlock(lines []string) []string {
	var block []string
	for _, line := range lines {
		text, found := strings.CutPrefix(line, "E  ")
		text = strings.TrimSpace(text)
		if !found || len(block) > 0 && (text == "" || strings.IndexByte("+-?", text[0]) >= 0) {
			break
		}
		if block = append(block, text); len(block) == 2 {
			break
		}
	}
	return block
}

func pythonDefinition(line string) string {
	rest, found := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(line), "async "), "def ")
	if !found {
		return ""
	}
	name, _, found := strings.Cut(rest, "(")
	if !found {
		return ""
	}
	return strings.TrimSpace(name)
}

// readRustPanic reads "thread 'a' panicked at src/b.rs:12:5:" with the message on the next line, or in quotes before
// the place as older compilers write it.
func readRustPanic(lines []string) (reading, bool) {
	for i, line := range lines {
		_, rest, found := strings.Cut(line, "' panicked at ")
		if !found || !strings.HasPrefix(strings.TrimSpace(line), "thread '") {
			continue
		}
		said := reading{message: rest, place: placeIn(rest)}
		if quoted, after, found := strings.Cut(rest, "', "); found {
			said.message, said.place = strings.TrimPrefix(quoted, "'"), placeIn(after)
		} else if i+1 < len(lines) {
			said.message = strings.TrimSpace(lines[i+1])
		}
		return said, true
	}
	return reading{}, false
}
