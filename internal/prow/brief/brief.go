package brief

import (
	"fmt"
	"strings"
)

// listed bounds what is listed of many.
const listed = 50

// Some are the first of many, and how many there are besides.
func Some(all []string) []string {
	if len(all) <= listed {
		return all
	}
	return append(all[:listed:listed], fmt.Sprintf("and %d more", len(all)-listed))
}

// List is a list in words.
func List(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(Some(all), ", ")
}
