package cli

import (
	"encoding/hex"
	"os"
	"strings"
)

// shortestDigest is how many digits of a plan's digest are enough to tell it from others by eye: as docker shows them.
const shortestDigest = 12

// wholeDigest is a digest as plans have it; false when it is none, or not all of one.
func wholeDigest(text string) (string, bool) {
	digest := strings.ToLower(text)
	raw, err := hex.DecodeString(digest)
	return digest, err == nil && len(raw) == 32
}

// isCutDigest tells what looks like a part of a digest, and is no file.
func isCutDigest(text string) bool {
	if _, err := os.Lstat(text); err == nil {
		return false
	}
	return isHexadecimal(text)
}

// isHexadecimal tells whether a text may be a digest or the beginning of one.
func isHexadecimal(text string) bool {
	return len(text) >= 6 && len(text) <= 64 && strings.Trim(strings.ToLower(text), "0123456789abcdef") == ""
}

// checkDigest finds what can't name a plan that is shown beside it.
func checkDigest(text string) error {
	if !isHexadecimal(text) || len(text) < shortestDigest {
		return usage("invalid --plan %q: it must be the digest of a plan, 64 hexadecimal digits, or at least the first %d",
			text, shortestDigest)
	}
	return nil
}

// beginsDigest tells whether a text, which checkDigest has seen, stands for a digest.
func beginsDigest(text, digest string) bool { return strings.HasPrefix(digest, strings.ToLower(text)) }
