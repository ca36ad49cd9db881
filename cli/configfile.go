package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// configVariable names the configuration file; without it, it is config.yaml in the user's own folder.
const configVariable = "SALVE_CONFIG"

// largestConfiguration bounds the configuration file, in bytes.
const largestConfiguration = 64 << 10

// readConfigFile takes flags that were not given from the configuration file. Flags win over the environment, and that
// wins over the file. Each value is checked, whatever the command: what is wrong is told where it stands.
func (a *app) readConfigFile(command *cobra.Command) error {
	path, asked := a.configFile()
	if path == "" {
		return nil
	}
	raw, err := readText(path, largestConfiguration)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !asked:
		return nil
	case err != nil:
		return usage("reading the configuration: %v", err)
	}
	document, err := parseConfiguration(path, raw)
	if err != nil || document == nil {
		return err
	}
	keys, seen := configKeys(), map[string]bool{}
	for i := 0; i+1 < len(document.Content); i += 2 {
		key, value := document.Content[i], document.Content[i+1]
		known, is := keys[key.Value]
		switch {
		case !is:
			return usage("%s:%d:%d: unknown key %q. %s", path, key.Line, key.Column, key.Value,
				didYouMean(key.Value, slices.Collect(maps.Keys(keys))))
		case seen[key.Value]:
			return usage("%s:%d:%d: duplicate key %q", path, key.Line, key.Column, key.Value)
		case value.Kind != yaml.ScalarNode || value.Value == "" || value.Tag == "!!null":
			return usage("%s:%d:%d: invalid %s: it must be one value", path, value.Line, value.Column, key.Value)
		}
		seen[key.Value] = true
		text := value.Value
		if known.file {
			text = a.fileOf(path, text)
		}
		place := fmt.Sprintf("%s:%d:%d", path, value.Line, value.Column)
		if err := known.check(text); err != nil {
			return usage("%s: invalid %s %q: %v", place, key.Value, value.Value, err)
		}
		if err := a.preset(command, key.Value, text, place); err != nil {
			return usage("%s: invalid %s: %v", place, key.Value, err)
		}
	}
	return nil
}

// parseConfiguration gives the file's one mapping; nil when the file says nothing.
func parseConfiguration(path string, raw []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	var document, second yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, invalidYAML(path, raw, err)
	}
	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, invalidYAML(path, raw, err)
	default:
		return nil, usage("%s:%d: second YAML document: the configuration must be one", path, second.Line)
	}
	root := document.Content[0]
	switch {
	case root.Tag == "!!null":
		return nil, nil
	case root.Kind != yaml.MappingNode:
		return nil, usage("%s:%d: invalid configuration: it must be a mapping of flags", path, root.Line)
	}
	return root, nil
}

var (
	lineOfYAML  = regexp.MustCompile(`^yaml: line (\d+): `)
	aliasOfYAML = regexp.MustCompile(`unknown anchor '([^']+)'`)
)

// invalidYAML tells a parser's error with its line, which the parser leaves out for the first line and for aliases.
func invalidYAML(path string, raw []byte, err error) error {
	text, line := err.Error(), 1
	if found := lineOfYAML.FindStringSubmatch(text); found != nil {
		line, _ = strconv.Atoi(found[1]) // digits, by the expression
		text = text[len(found[0]):]
	}
	alias := aliasOfYAML.FindStringSubmatch(text)
	for i, one := range strings.Split(string(raw), "\n") {
		indent := one[:len(one)-len(strings.TrimLeft(one, " \t"))]
		if strings.Contains(indent, "\t") && strings.TrimSpace(one) != "" {
			return usage("%s:%d: invalid configuration: tab in the indentation; YAML takes spaces only", path, i+1)
		}
		if alias != nil && strings.Contains(one, "*"+alias[1]) {
			line, alias = i+1, nil
		}
	}
	return usage("%s:%d: invalid configuration: %s", path, line, strings.TrimPrefix(text, "yaml: "))
}

// preset gives a flag a value as if it were its default.
func (a *app) preset(command *cobra.Command, name, value, place string) error {
	flag := command.Flags().Lookup(name)
	if flag == nil || flag.Changed || name == "kubeconfig" && a.lookup("KUBECONFIG") != "" {
		return nil
	}
	switch name { // a cloud or a context of the file does not go with an endpoint or a kubeconfig of the command
	case "cloud", "arm-audience", "authority-host", "arm-ca", "arm-endpoint":
		if command.Flags().Changed("cloud") || command.Flags().Changed("arm-endpoint") {
			return nil
		}
	case "context":
		if command.Flags().Changed("kubeconfig") || a.lookup("KUBECONFIG") != "" {
			return nil
		}
	}
	if a.presets == nil {
		a.presets = map[string]string{}
	}
	a.presets[name] = place
	return flag.Value.Set(value)
}

// tellPresets adds to flags that an error names where the configuration gave them, up to the hint.
func (a *app) tellPresets(line string) string {
	said, hint, hinted := strings.Cut(line, "hint: ")
	for name, place := range a.presets {
		flag := regexp.MustCompile(`--` + name + `\b([^-]|$)`)
		if at := flag.FindStringIndex(said); at != nil {
			end := at[0] + len("--"+name)
			said = said[:end] + " (" + place + ")" + said[end:]
		}
	}
	if hinted {
		said += "hint: " + hint
	}
	return said
}

// configFile is where the configuration is, and whether somebody said so.
func (a *app) configFile() (path string, asked bool) {
	if named := a.lookup(configVariable); named != "" {
		return named, true
	}
	if folder := a.lookup("XDG_CONFIG_HOME"); filepath.IsAbs(folder) && runtime.GOOS != "darwin" {
		return filepath.Join(folder, "salve", "config.yaml"), false
	}
	home := a.lookup("HOME")
	switch {
	case runtime.GOOS == "windows" && a.lookup("APPDATA") != "":
		return filepath.Join(a.lookup("APPDATA"), "salve", "config.yaml"), false
	case home == "":
		return "", false
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", "salve", "config.yaml"), false
	}
	return filepath.Join(home, ".config", "salve", "config.yaml"), false
}
