package cli

import (
	"fmt"
	"strings"
)

// Flag is a flag without which a command can't begin.
type Flag struct {
	Name string
	// Variable gives it in the environment; may be empty.
	Variable string
	// Example is a value.
	Example string
}

// missingFlags is the error of flags that were not given, all of them at once; nil when there are none.
func missingFlags(missing []Flag) error {
	if len(missing) == 0 {
		return nil
	}
	var names, example []string
	for _, flag := range missing {
		name := "--" + flag.Name
		example = append(example, name, flag.Example)
		if flag.Variable != "" {
			name += fmt.Sprintf(" (or %s)", flag.Variable)
		}
		names = append(names, name)
	}
	flags := "flag"
	if len(missing) > 1 {
		flags = "flags"
	}
	return usage("required %s %s not set (for example %s)", flags, strings.Join(names, ", "), shell(example))
}

// given is a flag's value beside what is said when it is missing.
type given struct {
	Flag
	value string
}

// required is the error of those flags that have no value.
func required(flags ...given) error {
	var missing []Flag
	for _, flag := range flags {
		if flag.value == "" {
			missing = append(missing, flag.Flag)
		}
	}
	return missingFlags(missing)
}
