package fetch

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"salve/internal/hotfix/disk"
)

// The two forms of apt's sources: https://manpages.debian.org/apt/sources.list.5.

// maxSources bounds a file of sources, in bytes.
const maxSources = 256 << 10

// trustedSources tells whether every source of a file is checked by a key that it
// names. Nobody else may have written the file.
func trustedSources(path string) error {
	raw, err := disk.ReadGuarded(path, maxSources)
	if err == nil {
		if filepath.Ext(path) == ".sources" {
			err = checkStanzas(string(raw))
		} else {
			err = checkLines(string(raw))
		}
	}
	if err != nil {
		return &Error{Outcome: UnsignedRepository, Err: fmt.Errorf("sources %s: %w", path, err)}
	}
	return nil
}

// checkLines reads the form of one line: deb [option=value …] address suite component ….
func checkLines(text string) error {
	checked, number := 0, 0
	for line := range strings.Lines(text) {
		number++
		options, given, err := optionsOf(line)
		if err == nil && given {
			checked++
			err = checkOptions(options)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if checked == 0 {
		return errors.New("there is no source in it")
	}
	return nil
}

// optionsOf gives the options of a line; given is false for one that is empty or a
// comment. What is written in another way than this is not taken.
func optionsOf(line string) (options map[string]string, given bool, err error) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return nil, false, nil
	}
	kind, rest, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	if kind != "deb" && kind != "deb-src" {
		return nil, false, fmt.Errorf("%.40q is no kind of source", kind)
	}
	rest = strings.TrimSpace(rest)
	options = map[string]string{}
	if !strings.HasPrefix(rest, "[") {
		return options, true, nil
	}
	inside, _, closed := strings.Cut(rest[1:], "]")
	if !closed || strings.ContainsAny(inside, `"%[`) {
		return nil, false, errors.New("its options can't be read")
	}
	for word := range strings.FieldsSeq(inside) {
		name, value, isOption := strings.Cut(word, "=")
		if _, twice := options[name]; !isOption || twice {
			return nil, false, fmt.Errorf("the option %.60q can't be read", word)
		}
		options[name] = value
	}
	return options, true, nil
}

// checkStanzas reads the form of stanzas: «Name: value», continued on lines that begin
// with a space, and an empty line between two stanzas.
func checkStanzas(text string) error {
	checked, number := 0, 0
	stanza := map[string]string{}
	last := ""
	end := func() error {
		defer func() { stanza, last = map[string]string{}, "" }()
		if len(stanza) == 0 || no(stanza["enabled"]) {
			return nil
		}
		checked++
		return checkOptions(stanza)
	}
	for line := range strings.Lines(text + "\n\n") {
		number++
		line = strings.TrimRight(line, " \t\r\n")
		var err error
		switch name, value, isField := strings.Cut(line, ":"); {
		case strings.HasPrefix(line, "#"):
		case line == "":
			err = end()
		case line[0] == ' ' || line[0] == '\t':
			if last == "" {
				err = errors.New("it continues nothing")
			}
			stanza[last] += "\n" + strings.TrimSpace(line)
		case !isField || strings.ContainsAny(name, " \t"):
			err = errors.New("it is no field")
		default:
			last = strings.ToLower(name)
			if _, twice := stanza[last]; twice {
				err = fmt.Errorf("the field %.60q is given twice", name)
			}
			stanza[last] = strings.TrimSpace(value)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if checked == 0 {
		return errors.New("there is no source in it")
	}
	return nil
}

// checkOptions looks at one source's options. What is not known may be one that
// switches a check off, in another spelling.
func checkOptions(options map[string]string) error {
	off := []string{"trusted", "allow-insecure", "allow-weak", "allow-downgrade-to-insecure"}
	for name, value := range options {
		plain := strings.TrimRight(strings.ToLower(name), "+-")
		switch {
		case slices.Contains(off, plain) && (plain != name || !no(value)):
			return fmt.Errorf("%s=%.20q takes checks away", name, value)
		case plain == "signed-by" && plain != name:
			return fmt.Errorf("%s: it has to be %s", name, plain)
		}
	}
	return checkKeys(options["signed-by"])
}

// no is how apt reads that something is switched off.
func no(value string) bool {
	return slices.Contains([]string{"no", "false", "without", "off", "disable", "0"}, strings.ToLower(value))
}

// checkKeys looks at what signatures have to be made with: files with keys, as paths;
// fingerprints of keys that the node has; or keys themselves, in stanzas.
func checkKeys(keys string) error {
	if strings.HasPrefix(strings.TrimSpace(keys), "-----BEGIN PGP PUBLIC KEY BLOCK-----") {
		return nil
	}
	named := strings.FieldsFunc(keys, func(c rune) bool { return c == ',' || c == ' ' || c == '\n' })
	if len(named) == 0 {
		return errors.New("it has no signed-by: which key has to sign it is left open")
	}
	for _, key := range named {
		switch fingerprint := strings.TrimSuffix(key, "!"); {
		case filepath.IsAbs(key):
			if _, err := disk.ReadGuarded(key, maxKey); err != nil {
				return fmt.Errorf("signed-by: %w", err)
			}
		case len(fingerprint) != 40 || strings.Trim(fingerprint, "0123456789abcdefABCDEF") != "":
			return fmt.Errorf("signed-by %.60q is neither a path nor a fingerprint", key)
		}
	}
	return nil
}

// maxKey bounds a file of keys, in bytes.
const maxKey = 1 << 20
