package hotfix

import (
	"fmt"
	"strings"
)

// Version is a release of the node program, YYYYMM.DD.PATCH, of an image's base
// YYYYMM.DD. A suffix after «-» belongs to the package version asked for and
// orders as if it were absent.
type Version struct {
	base   string
	patch  int
	suffix string
}

const (
	baseLength      = len("YYYYMM.DD")
	maxPatchDigits  = 9
	maxSuffixLength = 40
)

// ParseVersion reads a version, without the white space around it.
func ParseVersion(text string) (Version, error) {
	text = strings.TrimSpace(text)
	core, suffix, suffixed := strings.Cut(text, "-")
	if suffixed && !validSuffix(suffix) {
		return Version{}, fmt.Errorf("%s: what follows «-» has to be 1 to %d of 0-9, A-Z, a-z and «.»", quote(text),
			maxSuffixLength)
	}
	if len(core) <= baseLength+1 || core[baseLength] != '.' || !ValidBase(core[:baseLength]) {
		return Version{}, fmt.Errorf("%s is not a version of the form YYYYMM.DD.PATCH", quote(text))
	}
	patch, valid := parsePatch(core[baseLength+1:])
	if !valid {
		return Version{}, fmt.Errorf("%s: the patch has to be a number of at most %d digits without leading zeros",
			quote(text), maxPatchDigits)
	}
	return Version{base: core[:baseLength], patch: patch, suffix: suffix}, nil
}

// Base is the image's release that the version patches, YYYYMM.DD, as written.
func (v Version) Base() string { return v.base }

// Patch is the version's number within its base.
func (v Version) Patch() int { return v.patch }

// Patches tells whether v is a later patch of the same base as other.
func (v Version) Patches(other Version) bool {
	return v.base == other.base && v.patch > other.patch
}

// Before tells whether v is an earlier patch than other; it means something only
// between versions of one base.
func (v Version) Before(other Version) bool { return v.patch < other.patch }

// Is tells whether v, as a program says it of itself, is the version that was
// asked for. A suffix may be the distribution's and unknown to the program: it
// counts only where both have one.
func (v Version) Is(wanted Version) bool {
	sameSuffix := v.suffix == wanted.suffix || v.suffix == "" || wanted.suffix == ""
	return v.base == wanted.base && v.patch == wanted.patch && sameSuffix
}

func (v Version) String() string {
	text := fmt.Sprintf("%s.%d", v.base, v.patch)
	if v.suffix != "" {
		text += "-" + v.suffix
	}
	return text
}

// ValidBase tells whether text has the form YYYYMM.DD.
func ValidBase(text string) bool {
	if len(text) != baseLength {
		return false
	}
	return digits(text[:6]) && text[6] == '.' && digits(text[7:])
}

func parsePatch(text string) (int, bool) {
	if text == "" || len(text) > maxPatchDigits || !digits(text) || (text[0] == '0' && text != "0") {
		return 0, false
	}
	patch := 0
	for _, digit := range []byte(text) {
		patch = patch*10 + int(digit-'0')
	}
	return patch, true
}

func validSuffix(text string) bool {
	if text == "" || len(text) > maxSuffixLength {
		return false
	}
	for _, c := range []byte(text) {
		if !digit(c) && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '.' {
			return false
		}
	}
	return true
}

func digits(text string) bool {
	for _, c := range []byte(text) {
		if !digit(c) {
			return false
		}
	}
	return true
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// Quote shows a value that came from outside, short and without control
// characters.
func Quote(text string) string {
	const enough = 60
	if len(text) > enough {
		return fmt.Sprintf("%.*q…", enough, text)
	}
	return fmt.Sprintf("%q", text)
}

func quote(text string) string { return Quote(text) }
