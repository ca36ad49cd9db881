package grouping

import (
	"slices"
	"strings"
)

// readGoPanic reads a panic or a fatal error with the stacks of goroutines, and the panic by which a test's timeout
// ends it.
func readGoPanic(lines []string) (reading, bool) {
	start := slices.IndexFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
	})
	if start < 0 {
		return reading{}, false
	}
	message := strings.TrimSpace(lines[start])
	message, _, _ = strings.Cut(message, " [recovered")
	said := reading{message: message}
	if strings.HasPrefix(message, "panic: test timed out after ") {
		said.anywhere = true
		said.frame = onlyRunningTest(lines[start+1:])
		return said, true
	}
	if message == "panic:" || strings.HasSuffix(message, "(") { // a value that was printed on lines of its own
		said.message = firstLines(lines[start:])
	}
	said.frame, said.place = ownGoFrame(lines[start+1:])
	return said, true
}

// onlyRunningTest is the test that a timeout met, if it was the only one.
func onlyRunningTest(lines []string) string {
	var running []string
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if i == 0 && line == "running tests:" {
			continue
		}
		name, after, found := strings.Cut(line, " (")
		if !found || !strings.HasSuffix(after, ")") || !strings.HasPrefix(name, "Test") {
			break
		}
		running = append(running, topTest(name))
	}
	slices.Sort(running)
	if running = slices.Compact(running); len(running) == 1 {
		return running[0]
	}
	return ""
}

// topTest is the function behind a test's name: subtests are data.
func topTest(name string) string {
	name, _, _ = strings.Cut(strings.TrimSpace(name), "/")
	return name
}

// readGoRace reads what the race detector prints: the frames of both accesses, in an order that doesn't depend on who
// came first.
func readGoRace(lines []string) (reading, bool) {
	start := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "WARNING: DATA RACE") })
	if start < 0 {
		return reading{}, false
	}
	said := reading{message: "WARNING: DATA RACE", anywhere: true}
	var frames []string
	accesses := 0
	for i := start + 1; i < len(lines) && !strings.HasPrefix(lines[i], "====") && accesses < 2; i++ {
		if strings.HasPrefix(lines[i], "Goroutine ") {
			break
		}
		access := strings.Contains(lines[i], " at 0x") && strings.HasSuffix(lines[i], ":")
		if !access {
			continue
		}
		accesses++
		frame, at := ownGoFrame(lines[i+1:])
		if frame != "" {
			frames = append(frames, Mask(frame))
		}
		if said.place.file == "" {
			said.place = at
		}
	}
	slices.Sort(frames)
	said.frame = strings.Join(slices.Compact(frames), " and ")
	return said, true
}

// ownGoFrame is the first frame of one goroutine's stack, or of one access's, that is of neither the language nor a
// test framework.
func ownGoFrame(lines []string) (string, place) {
	began := false
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "goroutine ") || strings.HasPrefix(trimmed, "created by ") {
			if began {
				return "", place{}
			}
			continue
		}
		function, ok := goFunction(trimmed)
		if !ok || i+1 >= len(lines) || placeIn(lines[i+1]).file == "" {
			continue
		}
		began = true
		if ownGoFunction(function) {
			return shortGoFunction(function), placeIn(lines[i+1])
		}
	}
	return "", place{}
}

// goFunction is the function of a stack's line, without its arguments: "example.com/a/b.(*T).M(0xc0, 0x1)".
func goFunction(line string) (string, bool) {
	if !strings.HasSuffix(line, ")") || strings.Contains(line, " ") && !strings.Contains(line, ", ") {
		return "", false
	}
	open := strings.LastIndexByte(line, '(')
	if open <= 0 || line[open-1] == '.' { // (*T) and not the arguments
		return "", false
	}
	function := line[:open]
	base := function[strings.LastIndexByte(function, '/')+1:]
	qualified := strings.Contains(base, ".") || function == "panic"
	return function, qualified && !strings.ContainsAny(function, " \t")
}

// goStandard says whether a path of the standard library begins so.
func goStandard(root string) bool {
	switch root {
	case "_testmain", "archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto",
		"database", "debug", "embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html",
		"image", "index", "internal", "io", "iter", "log", "maps", "math", "mime", "net", "os", "panic", "path",
		"plugin", "reflect", "regexp", "runtime", "slices", "sort", "strconv", "strings", "structs", "sync",
		"syscall", "testing", "text", "time", "unicode", "unique", "unsafe", "vendor", "weak":
		return true
	}
	return false
}

func ownGoFunction(function string) bool {
	if _, vendored, found := strings.Cut(function, "/vendor/"); found {
		function = vendored
	}
	root := function
	if end := strings.IndexAny(root, "/.("); end >= 0 {
		root = root[:end]
	}
	// The first part of a module's path has a dot, unless it is one that nobody else imports.
	if first, _, found := strings.Cut(function, "/"); goStandard(root) && (!found || !strings.Contains(first, ".")) {
		return false
	}
	for _, framework := range []string{
		"github.com/stretchr/testify/", "github.com/onsi/gomega", "github.com/onsi/ginkgo", "gotest.tools/v3/assert",
		"gotest.tools/v3/poll", "gotest.tools/assert",
		"github.com/google/go-cmp/", "github.com/rogpeppe/go-internal/testscript", "go.uber.org/goleak",
	} {
		if strings.HasPrefix(function, framework) {
			return false
		}
	}
	return true
}

// shortGoFunction leaves out the folders of the module, type parameters, and a major version that would stand for the
// package's name.
func shortGoFunction(function string) string {
	if slash := strings.LastIndexByte(function, '/'); slash >= 0 {
		before := function[:slash]
		function = function[slash+1:]
		version, rest, found := strings.Cut(function, ".")
		if found && len(version) > 1 && version[0] == 'v' && strings.Trim(version[1:], "0123456789") == "" {
			function = before[strings.LastIndexByte(before, '/')+1:] + "." + rest
		}
	}
	return strings.ReplaceAll(function, "[...]", "")
}

// readGoLog takes the last line that a test logged with its place, with what continues it: Fatal ends the test.
func readGoLog(lines []string) (reading, bool) {
	for i := len(lines) - 1; i >= 0; i-- {
		at, message, ok := goLogLine(lines[i])
		if !ok {
			continue
		}
		end := i + 1
		for end < len(lines) && strings.TrimSpace(lines[end]) != "" && indent(lines[end]) > indent(lines[i]) {
			end++
		}
		block := append([]string{message}, lines[i+1:end]...)
		return reading{message: firstLines(block), place: at}, true
	}
	return reading{}, false
}

// goLogLine is a line as testing writes it, or a compiler: "    a_test.go:12: message".
func goLogLine(line string) (place, string, bool) {
	line = strings.TrimLeft(line, " \t")
	ending := strings.Index(line, ".go:")
	if ending <= 0 || strings.ContainsAny(line[:ending], " \t:") {
		return place{}, "", false
	}
	digits, rest, found := strings.Cut(line[ending+len(".go:"):], ":")
	if !found || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return place{}, "", false
	}
	if column, after, found := strings.Cut(rest, ":"); found && column != "" && strings.Trim(column, "0123456789") == "" {
		rest = after
	}
	return newPlace(line[:ending]+".go", leadingNumber(digits)), strings.TrimSpace(rest), true
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
