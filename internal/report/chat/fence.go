package chat

import (
	"slices"
	"strings"
)

// markCode marks the lines of fenced code blocks. A chat's fences need not stand alone on their line ("see ```kubectl
// get pods" … "done```"), so whoever opens one more than it closes on a line begins a block. A fence that nothing
// closes ends with the next header of a message that follows an empty line: a message can't begin inside another's
// code block, and one forgotten fence may not swallow the rest.
func markCode(lines []line) {
	for i := 0; i < len(lines); {
		fence := opens(lines[i].text)
		if fence == "" {
			i++
			continue
		}
		end := closing(lines, i, fence)
		if end < 0 {
			end = endOfUnclosed(lines, i)
		}
		for j := i; j <= end; j++ {
			lines[j].code = true
		}
		i = end + 1
	}
	// A line on which text stands before its fence is the text's: it can be a header no more than code can.
}

// opens is the fence that the line leaves open, or "".
func opens(text string) string {
	if strings.HasPrefix(text, "~~~") {
		return "~~~"
	}
	if strings.Count(text, "```")%2 == 1 {
		start := strings.Index(text, "```")
		length := len(text[start:]) - len(strings.TrimLeft(text[start:], "`"))
		return strings.Repeat("`", length)
	}
	return ""
}

// closing is the index of the line that closes a fence, or -1.
func closing(lines []line, start int, fence string) int {
	found := slices.IndexFunc(lines[start+1:], func(l line) bool {
		if fence == "~~~" {
			return strings.HasPrefix(l.text, fence)
		}
		return strings.Contains(l.text, fence) && strings.Count(l.text, "```")%2 == 1
	})
	if found < 0 {
		return -1
	}
	return start + 1 + found
}

// endOfUnclosed is the last line of a code block that isn't closed.
func endOfUnclosed(lines []line, start int) int {
	for i := start + 1; i < len(lines); i++ {
		if lines[i-1].blank() && (isHeading(&lines[i]) || headerOf(&lines[i]) != nil) {
			return i - 1
		}
	}
	return start
}
