package grouping

import "strings"

// enough words beside those that any failure could have make a message an identity by itself.
const enoughWords = 2

// informative says whether a message tells failures apart by itself.
func informative(message string) bool {
	words := 0
	for at := 0; at < len(message) && words < enoughWords; {
		start := at
		letters, wide := 0, 0
		for at < len(message) && (isLetter(message[at]) || message[at] >= 0x80 || message[at] == '_') {
			if message[at] >= 0x80 {
				wide++
			}
			letters++
			at++
		}
		if at == start {
			at++
			continue
		}
		word := message[start:at]
		switch {
		case wide > 0:
			words += (wide + 5) / 6 // two characters of three bytes
		case letters >= 3 && !anywhere(lower(word)) && !raised(word):
			words++
		}
	}
	return words >= enoughWords
}

// raised says whether a word is the name of a class of errors.
func raised(word string) bool {
	for _, suffix := range []string{"Error", "Exception", "Failure"} {
		if strings.HasSuffix(word, suffix) {
			return true
		}
	}
	return false
}

func lower(word string) string {
	if len(word) > 20 {
		return word
	}
	return strings.ToLower(word)
}

// anywhere are the words of messages that say that something failed, and not what: of assertions, of the commonest
// errors of libraries, and of the language.
func anywhere(word string) bool {
	switch word {
	case "abort", "aborted", "actual", "address", "after", "and", "are", "array", "assert", "asserted",
		"assertion", "assertions", "because", "been", "before", "bool", "bounds", "but", "byte", "bytes", "call",
		"can", "canceled", "cancelled", "cannot", "cap", "capacity", "case", "check", "code", "com", "command",
		"condition", "consistently", "contain", "contains", "context", "core", "could", "deadline", "delete",
		"dereference", "details", "did", "diff", "differ", "different", "divide", "division", "does", "dumped",
		"element", "elements", "empty", "equal", "equality", "equals", "equivalent", "err", "errno", "error",
		"errors", "eventually", "exceeded", "exception", "exit", "exited", "expect", "expected", "expecting",
		"expects", "fail", "failed", "failing", "fails", "failure", "failures", "false", "fatal", "fault",
		"float", "for", "from", "func", "function", "get", "got", "greater", "had", "has", "have", "head",
		"http", "https", "index", "int", "interface", "internal", "into", "invalid", "item", "items", "its",
		"java", "junit", "killed", "lang", "last", "least", "len", "length", "less", "list", "log", "logs",
		"map", "match", "matched", "matches", "memory", "message", "met", "more", "most", "msg", "must", "never",
		"nil", "non", "none", "not", "null", "object", "operation", "org", "out", "panic", "panicked", "passed",
		"patch", "pointer", "post", "process", "put", "range", "reason", "received", "recent", "recovered",
		"require", "required", "returned", "runtime", "same", "satisfied", "see", "segmentation", "should",
		"signal", "slice", "stack", "status", "string", "struct", "terminated", "test", "testing", "tests",
		"than", "that", "the", "there", "this", "time", "timed", "timeout", "trace", "traceback", "true", "type",
		"types", "undefined", "unexpected", "unknown", "url", "value", "values", "wait", "waited", "waiting",
		"want", "wanted", "was", "were", "when", "while", "with", "within", "would", "zero":
		return true
	}
	return false
}

// raisedByLanguage says whether a message is of an error that a language's runtime raises itself: it says what was
// done wrong, never where, however many words it has for that.
func raisedByLanguage(message string) bool {
	head := message[:min(len(message), 160)]
	for _, name := range []string{
		"runtime error: ", "all goroutines are asleep", "concurrent map ", "close of closed channel",
		"send on closed channel", "interface conversion: ", "stack overflow", "DATA RACE",
		"TypeError", "ReferenceError", "RangeError", "KeyError", "IndexError", "AttributeError", "ValueError", "NameError",
		"UnboundLocalError", "ZeroDivisionError", "RecursionError",
		"NullPointerException", "ClassCastException", "IndexOutOfBoundsException", "NumberFormatException",
		"ArithmeticException", "NoSuchElementException", "StackOverflowError", "NullReferenceException",
		"Option::unwrap()",
	} {
		if strings.Contains(head, name) {
			return true
		}
	}
	return false
}
