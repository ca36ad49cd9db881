package program

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// registered is where Linux lists the emulators that it starts files with, by
// their first bytes.
const registered = "/proc/sys/fs/binfmt_misc"

// emulated tells whether this kernel starts an emulator for a file that begins so.
func emulated(head []byte) bool {
	entries, err := filepath.Glob(filepath.Join(registered, "*"))
	if err != nil {
		return false
	}
	for _, entry := range entries {
		raw, err := os.ReadFile(entry)
		if err == nil && claims(string(raw), head) {
			return true
		}
	}
	return false
}

// claims tells whether an entry of binfmt_misc is enabled, has its interpreter,
// and matches.
func claims(entry string, head []byte) bool {
	fields := map[string]string{}
	for line := range strings.Lines(entry) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		fields[name] = value
	}
	_, enabled := fields["enabled"]
	magic, err := hex.DecodeString(fields["magic"])
	offset, offsetErr := strconv.Atoi(fields["offset"])
	if !enabled || err != nil || offsetErr != nil || len(magic) == 0 || len(head) < offset+len(magic) ||
		!exists(fields["interpreter"]) {
		return false
	}
	mask, err := hex.DecodeString(fields["mask"])
	if err != nil || len(mask) != len(magic) {
		mask = bytes.Repeat([]byte{0xff}, len(magic))
	}
	for i, want := range magic {
		if head[offset+i]&mask[i] != want&mask[i] {
			return false
		}
	}
	return true
}
