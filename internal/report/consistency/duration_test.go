package consistency_test

import (
	"strings"
	"testing"
)

func TestTheLengthOfTheTimelineIsSaidRight(t *testing.T) {
	for end, want := range map[string]string{
		"10:10": "which is 10m",
		"10:30": "which is 30m",
		"11:00": "which is 1h",
		"11:20": "which is 1h20m",
		"12:10": "which is 2h10m",
		"20:00": "which is 10h",
		"10:07": "which is 7m",
	} {
		raw := "# Outage 2026-03-03\n## Summary\nThe service was down for 5 hours.\n## Timeline\nAll times UTC\n\n" +
			"- 10:00 outage begins\n- " + end + " outage ends\n"
		if found := rulesOf(checked(t, []byte(raw))); !strings.HasSuffix(found, want) {
			t.Errorf("until %s: %q, want %q", end, found, want)
		}
	}
}
