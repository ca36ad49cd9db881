package program

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// Platform is a machine's operating system and architecture, in Go's words.
// Variant is that of ARM, such as v7; empty where it does not matter or is not
// known.
type Platform struct{ OS, Arch, Variant string }

func (p Platform) String() string {
	if p.Variant == "" {
		return p.OS + "/" + p.Arch
	}
	return p.OS + "/" + p.Arch + "/" + p.Variant
}

// Host is the machine that this program runs on. A process cannot see whether
// another architecture is emulated below it.
func Host() Platform { return Platform{OS: runtime.GOOS, Arch: runtime.GOARCH} }

// known are the platforms that a file can be told to be for.
func known() map[string][]string {
	return map[string][]string{
		"linux": {"386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le",
			"riscv64", "s390x"},
		"darwin":  {"amd64", "arm64"},
		"windows": {"386", "amd64", "arm64"},
		"freebsd": {"386", "amd64", "arm", "arm64", "riscv64"},
		"netbsd":  {"386", "amd64", "arm", "arm64"},
		"openbsd": {"386", "amd64", "arm", "arm64"},
	}
}

// ParsePlatform reads OS/ARCH or OS/ARCH/VARIANT, such as linux/amd64 or
// linux/arm/v7, as container tools write it.
func ParsePlatform(text string) (Platform, error) {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return Platform{}, fmt.Errorf("platform %q: it is OS/ARCH, such as linux/amd64", text)
	}
	architectures, found := known()[parts[0]]
	if !found {
		return Platform{}, fmt.Errorf("platform %q: the operating system %q is not known", text, parts[0])
	}
	if !slices.Contains(architectures, parts[1]) {
		return Platform{}, fmt.Errorf("platform %q: for %s it is one of %s", text, parts[0],
			strings.Join(architectures, ", "))
	}
	p := Platform{OS: parts[0], Arch: parts[1]}
	if len(parts) == 3 {
		p.Variant = parts[2]
		if variants := variantsOf()[p.Arch]; !slices.Contains(variants, p.Variant) {
			return Platform{}, fmt.Errorf("platform %q: %s has no variant %q", text, p.Arch, p.Variant)
		}
	}
	return p, nil
}

// variantsOf are the variants of an architecture, each of which runs those before it.
func variantsOf() map[string][]string {
	return map[string][]string{"arm": {"v5", "v6", "v7"}, "arm64": {"v8"}}
}

// executes tells whether a machine of platform p runs a program for another one
// without an emulator: 64-bit machines run their 32-bit forebears where every
// such machine does. ARM's do not all.
func (p Platform) executes(other Platform) bool {
	if p.OS != other.OS {
		return false
	}
	if p.Arch == other.Arch {
		variants := variantsOf()[p.Arch]
		has, wants := slices.Index(variants, p.Variant), slices.Index(variants, other.Variant)
		return has < 0 || wants <= has
	}
	switch {
	case p.Arch == "amd64" && other.Arch == "386":
		return p.OS != "darwin"
	case p.Arch == "mips64" && other.Arch == "mips", p.Arch == "mips64le" && other.Arch == "mipsle":
		return true
	}
	// Windows on ARM brings its own emulation.
	return p.OS == "windows" && p.Arch == "arm64"
}
