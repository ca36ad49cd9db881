package fetch

import (
	"fmt"
	"os"
	"strings"

	"salve/internal/hotfix"
)

// readOnlyVariant is the image whose system takes no packages.
const readOnlyVariant = "osguard"

// maxOSRelease bounds the file that names the operating system, in bytes.
const maxOSRelease = 64 << 10

// system is what /etc/os-release says about a node.
type system struct{ id, variant string }

func readSystem(path string) (system, error) {
	raw, err := hotfix.ReadRegular(path, maxOSRelease)
	if err != nil {
		return system{}, err
	}
	var found system
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch name {
		case "ID":
			found.id = strings.ToLower(unquoted(value))
		case "VARIANT_ID":
			found.variant = strings.ToLower(unquoted(value))
		}
	}
	return found, nil
}

func unquoted(value string) string {
	for _, quote := range []string{`"`, `'`} {
		if len(value) >= 2 && strings.HasPrefix(value, quote) && strings.HasSuffix(value, quote) {
			return value[1 : len(value)-1]
		}
	}
	return value
}

// manager picks the package manager of the node.
func (o *Fetcher) manager() (manager, error) {
	found, err := readSystem(o.settings.OSRelease)
	switch {
	case err != nil:
		return nil, unsupported("the operating system's name can't be read: %w", err)
	case found.variant == readOnlyVariant:
		return nil, unsupported("%s %s is a read-only image", found.id, found.variant)
	}
	switch found.id {
	case "ubuntu", "debian":
		return o.apt()
	case "azurelinux":
		return o.rpm("azurelinux-official-ms-oss")
	case "mariner":
		return o.rpm("mariner-official-microsoft")
	}
	return nil, unsupported("packages of %q are not known here", found.id)
}

func (o *Fetcher) apt() (manager, error) {
	get, hasGet := lookPath(o.settings.SearchPath, "apt-get")
	cache, hasCache := lookPath(o.settings.SearchPath, "apt-cache")
	if !hasGet || !hasCache {
		return nil, unsupported("apt-get and apt-cache are not in %s", o.settings.SearchPath)
	}
	candidates := []string{"/etc/apt/sources.list.d/microsoft-prod.list", "/etc/apt/sources.list.d/microsoft-prod.sources"}
	if o.settings.Source != "" {
		candidates = []string{o.settings.Source}
	}
	for _, sources := range candidates {
		if _, err := os.Stat(sources); err == nil {
			return apt{get: get, cache: cache, sources: sources}, nil
		}
	}
	return nil, &Error{Outcome: VersionNotFound, Err: fmt.Errorf("no sources of packages: none of %s is here",
		strings.Join(candidates, ", "))}
}

func (o *Fetcher) rpm(repository string) (manager, error) {
	if o.settings.Source != "" {
		repository = o.settings.Source
	}
	if path, has := lookPath(o.settings.SearchPath, "dnf"); has {
		return o.dnf(path, repository), nil
	}
	if path, has := lookPath(o.settings.SearchPath, "tdnf"); has {
		return o.tdnf(path, repository), nil
	}
	return nil, unsupported("neither dnf nor tdnf is in %s", o.settings.SearchPath)
}

func unsupported(format string, values ...any) error {
	return &Error{Outcome: UnsupportedOS, Err: fmt.Errorf(format, values...)}
}
