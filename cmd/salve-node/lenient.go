//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// split parts the arguments of launch into its own flags and the program's
// arguments, which are nil when neither «--» nor a word is there to begin them. Without
// «--» the first word that is no flag does.
func split(arguments []string) (own, program []string) {
	if at := slices.Index(arguments, "--"); at >= 0 {
		return arguments[:at], arguments[at+1:]
	}
	flags := (&settings{}).flags()
	for i := 0; i < len(arguments); i++ {
		name, _, valued := strings.Cut(arguments[i], "=")
		if !strings.HasPrefix(name, "-") {
			return arguments[:i], arguments[i:]
		}
		if known := flags.Lookup(strings.TrimLeft(name, "-")); known != nil && known.NoOptDefVal == "" && !valued {
			i++ // its value
		}
	}
	return arguments, nil
}

// parseLeniently sets what it understands, and says what it doesn't. A flag with a
// value that is invalid keeps its default.
func parseLeniently(flags *pflag.FlagSet, arguments []string) (help bool, warnings []string) {
	for len(arguments) > 0 {
		word := arguments[0]
		arguments = arguments[1:]
		name, value, valued := strings.Cut(strings.TrimLeft(word, "-"), "=")
		known := flags.Lookup(name)
		switch {
		case word == "--help" || word == "-h":
			help = true
			continue
		case !strings.HasPrefix(word, "-"):
			warnings = append(warnings, fmt.Sprintf("argument %.60q is left out: none is expected", word))
			continue
		case known == nil:
			warnings = append(warnings, fmt.Sprintf("flag %.60q is not known, and left out", word))
			if !valued && len(arguments) > 0 && !strings.HasPrefix(arguments[0], "-") {
				arguments = arguments[1:] // most likely its value
			}
			continue
		case !valued && known.NoOptDefVal != "":
			value = known.NoOptDefVal
		case !valued && len(arguments) == 0:
			warnings = append(warnings, fmt.Sprintf("flag --%s has no value, and keeps its default", name))
			continue
		case !valued:
			value, arguments = arguments[0], arguments[1:]
		}
		if err := flags.Set(name, value); err != nil {
			warnings = append(warnings, err.Error()+"; it keeps its default")
		}
	}
	return help, warnings
}

// fromEnvironment sets the flags that were not given from the variables that belong
// to them. A variable that is empty counts as unset.
func fromEnvironment(flags *pflag.FlagSet, lookup func(string) (string, bool)) (warnings []string) {
	flags.VisitAll(func(flag *pflag.Flag) {
		value, given := lookup(variable(flag.Name))
		if flag.Changed || !given || value == "" {
			return
		}
		if err := flags.Set(flag.Name, value); err != nil {
			warnings = append(warnings, fmt.Sprintf("%s: %v; the default is kept", variable(flag.Name), err))
		}
	})
	return warnings
}

func variable(flag string) string {
	return "SALVE_NODE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
