package writefiles

import "strings"

// isText tells whether a scalar without quotes is a text to all readers of YAML. To
// those of version 1.1, cloud-init's among them, these are not: https://yaml.org/type/.
func isText(value string) bool {
	switch strings.ToLower(value) {
	case "", "~", "null", "y", "n", "yes", "no", "on", "off", "true", "false", "<<", "=", ".inf", ".nan":
		return false
	}
	if strings.IndexByte("0123456789+-.", value[0]) < 0 {
		return true
	}
	// Numbers of all bases, in powers of ten, of sixty, and dates with times.
	const ofNumbers = "0123456789abcdefABCDEFxXoO_+-.:tTzZ \tinIN"
	return strings.Trim(value, ofNumbers) != ""
}
