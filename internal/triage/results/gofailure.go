package results

import (
	"regexp"
	"strconv"
	"strings"
)

// goFailure is what the output of a Go test says about its failure.
type goFailure struct {
	message string
	text    Text
	file    string
	line    int
}

// failureIn reads the output of a test that didn't pass: a panic with its stack, or the last log line with a place,
// since Fatal ends the test, with the lines that continue it.
func failureIn(output Text) goFailure {
	lines := strings.Split(output.Head, "\n")
	if output.Omitted > 0 {
		lines = append(lines, strings.Split(output.Tail, "\n")...)
	}
	located := regexp.MustCompile(`^\s*([^\s:]+\.go):(\d+)(?::\d+)?: ?(.*)$`)
	var found goFailure
	var all []string
	for i := 0; i < len(lines); i++ {
		if panicked(lines[i]) {
			found.message = strings.TrimSpace(lines[i])
			all = append(all, lines[i:]...)
			break
		}
		if !strings.Contains(lines[i], ".go:") { // most lines: the expression costs more
			continue
		}
		at := located.FindStringSubmatch(lines[i])
		if at == nil {
			continue
		}
		end := i + 1
		for end < len(lines) && continues(lines[i], lines[end]) {
			end++
		}
		found.file = at[1]
		found.line, _ = strconv.Atoi(at[2])
		found.message = strings.TrimSpace(strings.Join(append([]string{at[3]}, lines[i+1:end]...), "\n"))
		all = append(all, lines[i:end]...)
		i = end - 1
	}
	found.text.Head = strings.Join(all, "\n")
	return found
}

func panicked(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") ||
		strings.HasPrefix(line, "WARNING: DATA RACE")
}

// continues says whether a line is indented deeper than the log line before, as testing does it.
func continues(first, line string) bool {
	return strings.TrimSpace(line) != "" && indent(line) > indent(first)
}

func indent(line string) int {
	return len(line) - len(strings.TrimLeft(line, " \t"))
}
