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
		case letters >= 3 && !anywhere[lower(word)] && !raised(word):
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
var anywhere = wordSet(`
	the and for with was were are but not has have had does did should would must can cannot could that this from into
	its than there when while because within been got get want wanted expected expect expects expecting received actual
	unexpected equal equals equality equivalent same different differ match matches matched true false nil null none
	undefined empty zero value values type types object string int bool float byte bytes array list slice map struct
	interface func function
	error errors err errno fail fails failed failing failure failures fatal panic panicked exception assert assertion
	assertions asserted require required check test tests testing case passed recovered
	exit exited status code returned non signal killed terminated aborted abort core dumped segmentation fault command
	process
	timeout timed time out after before waiting wait waited condition met never satisfied eventually consistently
	context deadline exceeded canceled cancelled
	runtime invalid memory address pointer dereference index range bounds length len cap capacity out
	divide division java lang org junit com stack trace traceback recent call last most
	diff want have greater less more least contain contains element elements item items len
	operation internal unknown see log logs details message msg reason
	post put head delete patch https http url
`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
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
