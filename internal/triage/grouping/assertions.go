package grouping

import (
	"slices"
	"strings"
)

// readTestify reads the block that testify writes: fields with their values, continued by indented lines.
func readTestify(lines []string) (reading, bool) {
	fields, ok := testifyFields(lines)
	if !ok {
		return reading{}, false
	}
	var said reading
	for _, line := range fields["Error Trace"] {
		if said.place = placeIn(line); said.place.file != "" {
			break
		}
	}
	if test := fields["Test"]; len(test) > 0 {
		said.frame = topTest(test[0])
	}
	said.message = testifyError(fields["Error"])
	if messages := firstLines(fields["Messages"]); messages != "" {
		said.message = strings.TrimSuffix(said.message, ":") + ": " + messages
	}
	return said, true
}

// testifyFields are the fields of the last block.
func testifyFields(lines []string) (map[string][]string, bool) {
	start := -1
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "Error Trace:") {
			start = i
		}
	}
	if start < 0 {
		return nil, false
	}
	fields := map[string][]string{}
	current := ""
	for _, line := range lines[start:] {
		name, value, found := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "Error Trace", "Error", "Test", "Messages":
			if found && fields[name] == nil {
				current = name
				fields[name] = append(fields[name], strings.TrimSpace(value))
				continue
			}
		}
		if _, _, log := goLogLine(line); log && current != "Error Trace" || strings.HasPrefix(line, "--- ") {
			break
		}
		fields[current] = append(fields[current], line)
	}
	return fields, fields["Error"] != nil
}

// testifyError is what is said of the assertion, without the values that were compared: those stand in the text.
func testifyError(lines []string) string {
	var kept []string
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "expected:") || strings.HasPrefix(trimmed, "actual") {
			continue
		}
		if trimmed == "" && len(kept) > 0 || strings.HasPrefix(trimmed, "Diff:") {
			break
		}
		kept = append(kept, trimmed)
	}
	return firstLines(kept)
}

// readGinkgo reads a report of Ginkgo: the failure, and after it "In [It] at: file.go:12 @ 12/10/25 13:52:29.244".
func readGinkgo(lines []string) (reading, bool) {
	at := slices.IndexFunc(lines, func(line string) bool {
		line = strings.TrimSpace(line)
		return strings.HasPrefix(line, "In [") && strings.Contains(line, "] at: ")
	})
	if at < 0 {
		return reading{}, false
	}
	said := reading{place: placeIn(lines[at])}
	for from := at - 1; from >= 0; from-- {
		if first, found := ginkgoFailure(lines[from]); found {
			said.message = firstLines(append([]string{first}, lines[from+1:at]...))
			return said, true
		}
	}
	said.message = firstLines(lines[:at])
	return said, true
}

// ginkgoFailure is what follows the mark of how a spec ended.
func ginkgoFailure(line string) (string, bool) {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"[FAILED]", "[PANICKED]", "[TIMEDOUT]", "[INTERRUPTED]"} {
		if rest, found := strings.CutPrefix(line, mark); found {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}
