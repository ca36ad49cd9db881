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
