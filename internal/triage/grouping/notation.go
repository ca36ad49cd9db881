package grouping

import "strings"

// The functions here say where a notation that begins at a place ends, or 0. What they look at is bounded, or is the
// word that the caller then leaves behind.

// shape says where a text that looks like pattern ends: "0" is a digit, "x" a hexadecimal digit, anything else itself.
func shape(line string, at int, pattern string) int {
	if len(line)-at < len(pattern) {
		return 0
	}
	for i := range len(pattern) {
		c := line[at+i]
		switch pattern[i] {
		case '0':
			if !isDigit(c) {
				return 0
			}
		case 'x':
			if !isHex(c) {
				return 0
			}
		default:
			if c != pattern[i] {
				return 0
			}
		}
	}
	return at + len(pattern)
}

func ends(line string, at int) bool { return at == len(line) || !isWord(line[at]) }

// run is where the digits that begin at a place end, if there are between least and most of them.
func run(line string, at, least, most int) int {
	end := at
	for end < len(line) && end-at <= most && isDigit(line[end]) {
		end++
	}
	if end-at < least || end-at > most {
		return 0
	}
	return end
}

// timestamp is a date, a time of day, or both, as ISO 8601, RFC 3339, syslog or a web server writes them.
func timestamp(line string, at int) int {
	end := date(line, at)
	if end == 0 {
		clock := timeOfDay(line, at)
		if clock == 0 {
			return 0
		}
		return zone(line, clock)
	}
	if end < len(line) && strings.IndexByte("Tt _:@-", line[end]) >= 0 {
		if clock := timeOfDay(line, end+1); clock > 0 {
			return zone(line, clock)
		}
	}
	if !ends(line, end) {
		return 0
	}
	return end
}

// date is 2026-11-23, 2026/11/23, 2026.11.23, 23.11.2026, 12/10/25, 10/Oct/2026 or 23 Nov 2026.
func date(line string, at int) int {
	first := run(line, at, 1, 4)
	if first == 0 || first+1 >= len(line) {
		return 0
	}
	separator := line[first]
	if strings.IndexByte("-/. ", separator) < 0 {
		return 0
	}
	second := month(line, first+1)
	if second == 0 {
		second = run(line, first+1, 1, 2)
		if separator == ' ' || separator == '.' && first-at < 4 && first-at != 2 {
			return 0
		}
	}
	if second == 0 || second >= len(line) || line[second] != separator {
		return 0
	}
	least := 2
	if first-at == 4 {
		least = 1
	}
	if separator == '.' && first-at < 4 {
		least = 4
	}
	return run(line, second+1, least, 4)
}

const months = "jan feb mar apr may jun jul aug sep oct nov dec "

// month is where a month's name ends, abbreviated as all but a few write it.
func month(line string, at int) int {
	if at+3 > len(line) || !isLetter(line[at]) || !ends(line, at+3) {
		return 0
	}
	var name [4]byte
	for i := range 3 {
		name[i] = line[at+i] | 0x20
	}
	name[3] = ' '
	if i := strings.Index(months, string(name[:])); i%4 == 0 {
		return at + 3
	}
	return 0
}

// timeOfDay is 13:51:30, 13:51:30.123, 13:51:30,123 or 13.51 hours with seconds, an AM or PM after it included.
func timeOfDay(line string, at int) int {
	end := run(line, at, 1, 2)
	if end == 0 || end == len(line) || line[end] != ':' {
		return 0
	}
	if end = run(line, end+1, 2, 2); end == 0 || end == len(line) || line[end] != ':' {
		return 0
	}
	if end = run(line, end+1, 2, 2); end == 0 {
		return 0
	}
	if end < len(line) && (line[end] == '.' || line[end] == ',') {
		if fraction := run(line, end+1, 1, 9); fraction > 0 {
			end = fraction
		}
	}
	if end+1 < len(line) && line[end] == ':' && isHex(line[end+1]) { // a longer thing of pairs, such as an address
		return 0
	}
	if rest := line[end:]; len(rest) >= 3 && rest[0] == ' ' && rest[2]|0x20 == 'm' && ends(rest, 3) &&
		(rest[1]|0x20 == 'a' || rest[1]|0x20 == 'p') {
		end += 3
	}
	return end
}

// zone goes on over Z, +00:00, " +0000" and " UTC".
func zone(line string, at int) int {
	if at < len(line) && line[at] == 'Z' && ends(line, at+1) {
		return at + 1
	}
	offset := at
	if offset < len(line) && line[offset] == ' ' {
		offset++
	}
	if offset < len(line) && (line[offset] == '+' || line[offset] == '-') {
		for _, pattern := range []string{"00:00", "0000"} {
			if end := shape(line, offset+1, pattern); end > 0 && ends(line, end) {
				at = end
				break
			}
		}
	}
	for _, name := range []string{" UTC", " GMT", " CET", " CEST", " EST", " EDT", " PST", " PDT"} {
		if strings.HasPrefix(line[at:], name) && ends(line, at+len(name)) {
			return at + len(name)
		}
	}
	return at
}

const weekdays = "mon tue wed thu fri sat sun "

// namedDate is "Fri Dec 10 19:02:14 EST 2004", "Mon, 02 Jan 2006 15:04:05 MST" or syslog's "Jun  9 06:06:20".
func namedDate(line string, at int) int {
	if at+3 > len(line) {
		return 0
	}
	first := line[at] | 0x20
	if strings.IndexByte("jfmasondtw", first) < 0 {
		return 0
	}
	end := at
	if isWeekday(line, at) {
		end = at + 3
		if end < len(line) && line[end] == ',' {
			end++
		}
		end = spaces(line, end)
		if end < len(line) && isDigit(line[end]) {
			return timestamp(line, end)
		}
	}
	named := month(line, end)
	if named == 0 || named == len(line) || line[named] != ' ' {
		return 0
	}
	day := run(line, spaces(line, named), 1, 2)
	if day == 0 || day == len(line) {
		return 0
	}
	clock := timeOfDay(line, spaces(line, day))
	if clock == 0 {
		if line[day] == ',' {
			day++
		}
		return max(0, run(line, spaces(line, day), 4, 4))
	}
	clock = zone(line, clock)
	if year := run(line, spaces(line, clock), 4, 4); year > 0 && ends(line, year) {
		return year
	}
	return clock
}

func isWeekday(line string, at int) bool {
	if !ends(line, at+3) {
		return false
	}
	name := [4]byte{line[at] | 0x20, line[at+1] | 0x20, line[at+2] | 0x20, ' '}
	i := strings.Index(weekdays, string(name[:]))
	return i >= 0 && i%4 == 0
}

// spaces goes over one or two.
func spaces(line string, at int) int {
	for range 2 {
		if at < len(line) && line[at] == ' ' {
			at++
		}
	}
	return at
}

func uuid(line string, at int) int {
	end := shape(line, at, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
	if end == 0 || !ends(line, end) {
		return 0
	}
	return end
}

func mac(line string, at int) int {
	for _, pattern := range []string{"xx:xx:xx:xx:xx:xx", "xx-xx-xx-xx-xx-xx"} {
		if end := shape(line, at, pattern); end > 0 && ends(line, end) && (end == len(line) || line[end] != pattern[2]) {
			return end
		}
	}
	return 0
}

// ipv4 is an address, with its port or prefix length where there is one.
func ipv4(line string, at int) int {
	end := at
	for part := range 4 {
		if part > 0 {
			if end == len(line) || line[end] != '.' {
				return 0
			}
			end++
		}
		if end = run(line, end, 1, 3); end == 0 {
			return 0
		}
	}
	if !ends(line, end) || end+1 < len(line) && line[end] == '.' && isDigit(line[end+1]) {
		return 0
	}
	return port(line, end)
}

// port goes on over ":443" and "/24".
func port(line string, at int) int {
	if at+1 < len(line) && (line[at] == ':' || line[at] == '/') {
		if end := run(line, at+1, 1, 5); end > 0 && ends(line, end) {
			return end
		}
	}
	return at
}

// ipv6 has at least two colons next to each other or seven in all, and more than one group.
func ipv6(line string, at int) int {
	if at > 0 && (isWord(line[at-1]) || line[at-1] == ':') {
		return 0
	}
	end, colons, double, groups, last := at, 0, false, 0, 0
	for end < len(line) && end-at < 46 && (isHex(line[end]) || line[end] == ':') {
		if line[end] == ':' {
			colons++
			double = double || end > at && line[end-1] == ':'
			last = 0
		} else if last++; last == 1 {
			groups++
		} else if last > 4 {
			return 0
		}
		end++
	}
	if end > at && line[end-1] == ':' && !strings.HasSuffix(line[at:end], "::") {
		end-- // the sentence's
	}
	digits := strings.ContainsAny(line[at:end], "0123456789")
	if !(double && groups >= 1 && colons >= 2 || colons == 7 && groups == 8) || !digits || !ends(line, end) {
		return 0
	}
	return end
}

// hexadecimal is 0x1f, or a word of at least eight hexadecimal digits of which one is a digit and one is not, or which
// has the length of a digest.
func hexadecimal(line string, at int) int {
	prefixed := at+2 < len(line) && line[at] == '0' && line[at+1]|0x20 == 'x'
	end := at
	if prefixed {
		end += 2
	}
	start, digits, others := end, 0, 0
	for ; end < len(line) && isHex(line[end]); end++ {
		if isDigit(line[end]) {
			digits++
		} else {
			others++
		}
	}
	length := end - start
	switch {
	case !ends(line, end):
		return 0
	case prefixed && length > 0:
		return end
	case length >= 7 && digits > 0 && others > 0:
		return end
	case length >= 20 && digits == 0: // a digest of letters only is rare, a word of so many from a to f is none
		return end
	}
	return 0
}
