package grouping

import "strings"

// number is a number with its fraction, exponent, and the unit that is written to it: 5s, 1.5ms, 2m30s, 512Mi, 80%.
func number(line string, at int) (string, int) {
	end := decimal(line, at)
	mark := markNum
	if end < len(line) && line[end] == '%' {
		return mark, end + 1
	}
	for first := true; ; first = false {
		unit, after := unitAt(line, end)
		if after == 0 {
			break
		}
		if mark = markSize; unit {
			mark = markDuration
		}
		end = after
		if !unit || end == len(line) || !isDigit(line[end]) {
			break
		}
		next := decimal(line, end)
		if _, more := unitAt(line, next); more == 0 {
			if first {
				return "", 0
			}
			break
		}
		end = next
	}
	if !ends(line, end) {
		return "", 0
	}
	if mark == markNum {
		return unitWord(line, end)
	}
	return mark, end
}

// unitWord goes on over a unit that stands after a blank: "5 seconds", "1.5 KB".
func unitWord(line string, at int) (string, int) {
	if at == len(line) || line[at] != ' ' {
		return markNum, at
	}
	const longest = len("milliseconds")
	end := at + 1
	for end < len(line) && end-at-1 <= longest && isLetter(line[end]) {
		end++
	}
	if !ends(line, end) {
		return markNum, at
	}
	switch line[at+1 : end] {
	case "ms", "msec", "msecs", "millis", "millisecond", "milliseconds", "us", "usec", "usecs", "s", "sec", "secs",
		"second", "seconds", "min", "mins", "minute", "minutes", "hour", "hours", "day", "days":
		return markDuration, end
	case "KB", "MB", "GB", "TB", "kB", "KiB", "MiB", "GiB", "TiB", "B", "byte", "bytes":
		return markSize, end
	}
	return markNum, at
}

// decimal goes over digits, and over parts that a point or a comma joins: 1.25, 1,416, 1.19.2.
func decimal(line string, at int) int {
	end := at
	for end < len(line) && isDigit(line[end]) {
		end++
	}
	for end+1 < len(line) && line[end] == '.' && isDigit(line[end+1]) {
		end += 2
		for end < len(line) && isDigit(line[end]) {
			end++
		}
	}
	if end+1 < len(line) && line[end]|0x20 == 'e' {
		exponent := end + 1
		if line[exponent] == '-' || line[exponent] == '+' {
			exponent++
		}
		if after := run(line, exponent, 1, 3); after > 0 && ends(line, after) {
			return after
		}
	}
	return end
}

// unitAt is where the unit that is written to a number ends, and whether it is one of time.
func unitAt(line string, at int) (duration bool, end int) {
	const longest = len("bytes")
	end = at
	for end < len(line) && end-at <= longest && (isLetter(line[end]) || line[end] >= 0x80) {
		end++
	}
	switch line[at:end] {
	case "ns", "µs", "μs", "us", "ms", "sec", "secs", "min", "mins", "s", "m", "h", "d":
		if ends(line, end) || isDigit(line[end]) {
			return true, end
		}
	case "KiB", "MiB", "GiB", "TiB", "Ki", "Mi", "Gi", "Ti", "kB", "KB", "MB", "GB", "TB", "kb", "mb", "gb", "bytes",
		"K", "M", "G", "T", "B", "k", "b", "C", "GHz", "MHz", "Hz", "KHz", "kHz":
		if ends(line, end) {
			return false, end
		}
	}
	return false, 0
}

// signed says whether a sign belongs to the number after it, and is no hyphen or dash between two things.
func signed(line string, at int) bool {
	return at == 0 || strings.IndexByte(" \t=([{,:<>_", line[at-1]) >= 0
}

// url is a scheme and what follows it up to a blank, a quote or a bracket.
func url(line string, at int) int {
	colon := at
	for colon < len(line) && colon-at < 12 && (isAlnum(line[colon]) || line[colon] == '+' || line[colon] == '.') {
		colon++
	}
	if colon-at < 2 || !strings.HasPrefix(line[colon:], "://") {
		return 0
	}
	end := colon + 3
	for end < len(line) && line[end] > ' ' && strings.IndexByte("\"'`<>()[]{}|\\", line[end]) < 0 {
		end++
	}
	return max(colon+3, trimmed(line, at, end))
}

// trimmed gives the end without the sentence's punctuation.
func trimmed(line string, at, end int) int {
	for end > at && strings.IndexByte(".,;:!?", line[end-1]) >= 0 {
		end--
	}
	return end
}

// folders is an absolute path without its last part, which says what is meant: /var/lib/a.log gives <path>/a.log. A
// path of one part, such as /healthz, stays.
func folders(line string, at int) int {
	if at > 0 && (isWord(line[at-1]) || strings.IndexByte("/.\\~", line[at-1]) >= 0) {
		return 0
	}
	last := at
	for end := at; end < len(line) && inPath(line[end]); end++ {
		if line[end] == '/' {
			if end == at+1 { // a comment
				return 0
			}
			last = end
		}
	}
	if last == at {
		return 0
	}
	return last
}

// drive is the same for Windows, C:\a\b.
func drive(line string, at int) int {
	if at+3 >= len(line) || line[at+1] != ':' || line[at+2] != '\\' && line[at+2] != '/' || !isLetter(line[at]) {
		return 0
	}
	last := at + 2
	for end := last; end < len(line) && (inPath(line[end]) || line[end] == '\\'); end++ {
		if line[end] == '\\' || line[end] == '/' {
			last = end
		}
	}
	return last
}

func inPath(c byte) bool { return isWord(c) || strings.IndexByte("/.-+@~%=", c) >= 0 }

// machineNoun says whether the name of a machine or a cluster may follow: which one it was never tells what failed.
func machineNoun(word string) bool {
	switch word {
	case "node", "Node", "host", "Host", "hostname", "machine", "instance", "worker", "vm", "VM", "cluster", "Cluster",
		"lookup": // of a name by DNS
		return true
	}
	return false
}

// nodeName is a name with a digit or a hyphen: most words have none.
func nodeName(line string, at int) int {
	end := at
	named := false
	for ; end < len(line) && (isWord(line[end]) || line[end] == '-' || line[end] == '.'); end++ {
		named = named || isDigit(line[end]) || line[end] == '-'
	}
	if !named {
		return 0
	}
	return trimmed(line, at, end)
}

// randomSuffix is what Kubernetes appends to the name of a pod:
// https://github.com/kubernetes/apimachinery/blob/master/pkg/util/rand/rand.go
// That knows no 0, 1 and 3; here they are allowed, so that no digit matters.
func randomSuffix(line string, at int) int {
	end := at
	for end < len(line) && end-at < 6 && strings.IndexByte("bcdfghjklmnpqrstvwxz0123456789", line[end]) >= 0 {
		end++
	}
	if end-at != 5 || !ends(line, end) {
		return 0
	}
	return end
}
