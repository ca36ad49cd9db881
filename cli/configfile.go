package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// configVariable names the configuration file; without it, it is config.yaml in the user's own folder.
const configVariable = "SALVE_CONFIG"

// configurable are the flags that a configuration file may give: what is the same on each day, and nothing that says
// what is done to which target.
func configurable() []string {
	return []string{
		"subscription", "resource-group", "cloud", "arm-endpoint", "arm-audience", "authority-host", "arm-ca",
		"kubeconfig", "context", "journal-namespace", "lease-duration", "retention",
	}
}

// readConfigFile takes flags that were not given from the configuration file. Flags win over the environment, and that
// wins over the file.
func (a *app) readConfigFile(command *cobra.Command) error {
	path, asked := a.configFile()
	if path == "" {
		return nil
	}
	raw, err := readBounded(path, largestDocument)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !asked:
		return nil
	case err != nil:
		return usage("reading the configuration: %v", err)
	}
	var document yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(&document); err != nil {
		if len(bytes.TrimSpace(raw)) == 0 {
			return nil
		}
		return usage("%s: %v", path, err)
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return usage("%s:%d: invalid configuration: it must be a mapping of flags", path, document.Line)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(document.Content[0].Content); i += 2 {
		key, value := document.Content[0].Content[i], document.Content[0].Content[i+1]
		switch {
		case !slices.Contains(configurable(), key.Value):
			return usage("%s:%d:%d: unknown key %q. %s", path, key.Line, key.Column, key.Value,
				didYouMean(key.Value, configurable()))
		case seen[key.Value]:
			return usage("%s:%d:%d: duplicate key %q", path, key.Line, key.Column, key.Value)
		case value.Kind != yaml.ScalarNode || value.Value == "":
			return usage("%s:%d:%d: %s: it must be one value", path, value.Line, value.Column, key.Value)
		}
		seen[key.Value] = true
		if err := a.preset(command, key.Value, value.Value); err != nil {
			return usage("%s:%d:%d: invalid %s: %v", path, value.Line, value.Column, key.Value, err)
		}
	}
	return nil
}

// preset gives a flag a value as if it were its default.
func (a *app) preset(command *cobra.Command, name, value string) error {
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
	return flag.Value.Set(value)
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
