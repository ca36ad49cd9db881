//go:build linux

package protect

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// The kernel's table of mounts: https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html.
const (
	mountTable    = "/proc/self/mountinfo"
	maxMountTable = 16 << 20 // bytes
)

// overlay is a mount whose files are those of other folders: they have other numbers
// there, and are the same files nevertheless.
type overlay struct {
	at     string
	layers []string
}

func mountedOverlays() ([]overlay, error) {
	file, err := os.Open(mountTable)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxMountTable))
	if err != nil {
		return nil, err
	}
	return parseOverlays(raw), nil
}

// parseOverlays reads lines of: number, parent, device, root, place, options, fields,
// a hyphen, kind, source, options of the kind.
func parseOverlays(table []byte) []overlay {
	var found []overlay
	for line := range bytes.Lines(table) {
		words := strings.Fields(string(line))
		hyphen := slices.Index(words, "-")
		if hyphen < 6 || len(words) < hyphen+4 || words[hyphen+1] != "overlay" {
			continue
		}
		one := overlay{at: unescaped(words[4])}
		for option := range strings.SplitSeq(words[hyphen+3], ",") {
			name, value, _ := strings.Cut(option, "=")
			switch name {
			case "upperdir":
				one.layers = append(one.layers, unescaped(value))
			case "lowerdir", "lowerdir+", "datadir+":
				for layer := range strings.SplitSeq(unescaped(value), ":") {
					one.layers = append(one.layers, layer)
				}
			}
		}
		found = append(found, one)
	}
	return found
}

// unescaped undoes what the kernel does to spaces and the like: a backslash and three
// octal digits.
func unescaped(text string) string {
	var plain strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if code, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				plain.WriteByte(byte(code))
				i += 3
				continue
			}
		}
		plain.WriteByte(text[i])
	}
	return plain.String()
}

// layers gives paths, and for what is on an overlay the same below its layers.
func (m *Map) layers(paths []string) []string {
	all := slices.Clone(paths)
	for _, path := range paths {
		for _, one := range m.overlays {
			if path != one.at && !within(strings.TrimSuffix(one.at, "/"), path) {
				continue
			}
			for _, layer := range one.layers {
				if strings.HasPrefix(layer, "/") {
					all = append(all, layer+"/"+strings.TrimPrefix(strings.TrimPrefix(path, one.at), "/"))
				}
			}
		}
	}
	return all
}
