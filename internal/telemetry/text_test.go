package telemetry_test

import (
	"strings"
	"testing"

	"salve/internal/telemetry"
	"salve/internal/telemetry/telemetrytest"
)

func TestTextIsBoundedAndWithoutSecretsOrControls(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"as it is":               {"ready", "ready"},
		"as long as it may be":   {"12345678", "12345678"},
		"longer":                 {"123456789", "12345678"},
		"cut within a character": {"1234567é", "1234567"},
	} {
		if got := telemetry.Text(row.text, 8); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
	told := telemetry.Text("token "+telemetrytest.Secret+" \x1b[31m", 1000)
	if strings.Contains(told, telemetrytest.Secret) || strings.Contains(told, "\x1b") {
		t.Errorf("told is %q", told)
	}
}

// TestLongTextIsNotLookedThroughWhole, and no half of a secret is told where the look ends.
func TestLongTextIsNotLookedThroughWhole(t *testing.T) {
	const look = 64 << 10
	block := "-----BEGIN PRIVATE KEY-----" + strings.Repeat("A", look-100) + "-----END PRIVATE KEY-----"
	secret := telemetrytest.Secret
	before := strings.Repeat(" ", look-len(block)-len(secret)/2-1)
	told := telemetry.Text(block+before+" "+secret+strings.Repeat(" more", 1<<20), look)
	if half := secret[:len(secret)/2-2]; strings.Contains(told, half) || strings.Contains(told, "more") {
		t.Errorf("told is %q", told)
	}
}
