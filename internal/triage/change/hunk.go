package change

import (
	"regexp"
	"strconv"
	"strings"
)

// A hunk's header: as many @ as files are compared, each old one with -from,lines and the new one with +from,lines.
var (
	hunkHeader = regexp.MustCompile(`^(@@@*)((?: -\d{1,9}(?:,\d{1,9})?)+) \+\d{1,9}(?:,(\d{1,9}))? (@@@*)`)
	hunkRange  = regexp.MustCompile(`-\d+(?:,(\d+))?`)
)

func isHunk(line string) bool { return strings.HasPrefix(line, "@@") }

// hunk counts the lines of a hunk. What is in one may look like any header, so the numbers in its first line decide
// where it ends. A diff against several parents has a column for each.
func (d *diffReader) hunk(h *header) error {
	parts := hunkHeader.FindStringSubmatch(d.line)
	if parts == nil || parts[1] != parts[4] {
		return d.fail("a hunk's header that can't be read")
	}
	begun := d.number
	var left []int // lines of each old file, then of the new one
	for _, old := range hunkRange.FindAllStringSubmatch(parts[2], -1) {
		left = append(left, count(old[1]))
	}
	if len(left) != len(parts[1])-1 {
		return d.fail("a hunk's header that can't be read")
	}
	left = append(left, count(parts[3]))
	for !finished(left) {
		more, err := d.next()
		if err != nil {
			return err
		}
		if !more {
			return d.fail("the diff ends within the hunk that begins in line %d", begun)
		}
		if strings.HasPrefix(d.line, `\`) {
			continue // No newline at end of file
		}
		if !take(left, d.line, h) {
			return d.fail("not a line of the hunk that begins in line %d", begun)
		}
	}
	return nil
}

func count(text string) int {
	if text == "" {
		return 1 // left out when it is 1
	}
	n, _ := strconv.Atoi(text) // nine digits at most
	return n
}

func finished(left []int) bool {
	for _, n := range left {
		if n > 0 {
			return false
		}
	}
	return true
}

// take counts one line, and is false if none such may come. A line that is in the result has + in the columns of the
// parents that lack it; one that is not has - in the columns of the parents that have it.
func take(left []int, line string, h *header) bool {
	parents := len(left) - 1
	columns := line[:min(parents, len(line))]
	if columns == "" {
		columns = strings.Repeat(" ", parents) // a mailer took the blank away
	}
	if len(columns) < parents || strings.Trim(columns, " +-") != "" {
		return false
	}
	removed, added := strings.Contains(columns, "-"), strings.Contains(columns, "+")
	if removed && added {
		return false
	}
	for i, column := range columns {
		if column == '-' || column == ' ' && !removed {
			left[i]--
		}
	}
	switch {
	case removed:
		h.removed++
	default:
		left[parents]--
	}
	if added {
		h.added++
	}
	for _, n := range left {
		if n < 0 {
			return false
		}
	}
	return true
}
