// Package switchboard is compiled into each package under test: it says which mutant lives.
package switchboard

import (
	"os"
	"strconv"
	"sync"
)

// The mutant to live in this process, and the file that notes which are reached, if there is one.
var (
	mutantAlive, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutantNotes, _ = os.OpenFile(os.Getenv("MUTANT_REACHED"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	mutantNoted    sync.Map
)

func mutantIs(id int) bool {
	if _, noted := mutantNoted.LoadOrStore(id, true); !noted {
		_, _ = mutantNotes.WriteString(strconv.Itoa(id) + "\n") // an error where there is none
	}
	return mutantAlive == id
}

func mutantWithout[S ~[]E, E any](first int, list S) S {
	for i := range list {
		if mutantIs(first + i) {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}
