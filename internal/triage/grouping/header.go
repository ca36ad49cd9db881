package grouping

import "strings"

// maxHeader bounds each part of a header.
const maxHeader = 200

// withoutHeader leaves out what a logger puts before a masked message: the time, the process, the level, and the
// context in brackets. The same failure is logged with and without them.
func withoutHeader(masked string) string {
	rest := masked
	if after, found := klogHeader(rest); found {
		rest = after
	}
	timed := strings.HasPrefix(rest, markTime) || strings.HasPrefix(rest, "["+markTime)
	for rest != "" {
		after := headerPart(rest, timed)
		if after == rest {
			break
		}
		rest = after
	}
	if rest == "" {
		return masked
	}
	return rest
}

// headerPart takes one part of a header off. Marks and levels are parts of it only after a time.
func headerPart(text string, timed bool) string {
	if end := strings.Index(text[:min(len(text), maxHeader)], "] "); end > 0 && text[0] == '[' {
		context := text[1:end]
		if context == "-" || strings.Contains(context, "<") && !strings.Contains(context, "[") {
			return strings.TrimLeft(text[end+len("] "):], " :")
		}
	}
	if !timed {
		return text
	}
	if mark := markAt(text); mark != "" {
		after := text[len(mark):]
		if trimmed := strings.TrimLeft(after, " :,|-"); len(trimmed) < len(after) {
			return trimmed
		}
		return text
	}
	word, after, found := strings.Cut(text, " ")
	if found && level(strings.Trim(word, "[]():|")) {
		return strings.TrimLeft(after, " :|-")
	}
	return text
}

func level(word string) bool {
	switch strings.ToUpper(word) {
	case "TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "ERR", "FATAL", "CRITICAL", "SEVERE", "PANIC":
		return true
	}
	return false
}

// klogHeader is "E1123 21:04:05.678901    1234 file.go:12] ".
func klogHeader(text string) (string, bool) {
	if len(text) < 2 || strings.IndexByte("IWEF", text[0]) < 0 || !strings.HasPrefix(text[1:], markNum+" "+markTime) {
		return text, false
	}
	end := strings.Index(text[:min(len(text), maxHeader)], "] ")
	if end < 0 {
		return text, false
	}
	return text[end+len("] "):], true
}
