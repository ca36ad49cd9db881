package grouping

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Version is that of everything a key depends on. It must be raised whenever any failure could get another key: a
// history keeps texts beside its keys, and is grouped anew when the version has changed.
const Version = 1

// Key names a group of failures that look alike: "g1-" and 16 hexadecimal digits. It is the same on every machine, and
// whatever else was grouped before it.
type Key string

const keyDigits = 16

// newKey is the key of masked parts.
func newKey(parts ...string) Key {
	hash := sha256.New()
	for _, part := range parts {
		hash.Write([]byte(part))
		hash.Write([]byte{0})
	}
	return Key("g" + strconv.Itoa(Version) + "-" + hex.EncodeToString(hash.Sum(nil))[:keyDigits])
}

// ParseKey gives the version that a key was made with; ok is false for what is no key.
func ParseKey(s string) (version int, ok bool) {
	rest, found := strings.CutPrefix(s, "g")
	if !found {
		return 0, false
	}
	number, digits, found := strings.Cut(rest, "-")
	if !found || len(digits) != keyDigits || strings.Trim(digits, "0123456789abcdef") != "" {
		return 0, false
	}
	version, err := strconv.Atoi(number)
	if err != nil || version < 1 || number != strconv.Itoa(version) {
		return 0, false
	}
	return version, true
}
