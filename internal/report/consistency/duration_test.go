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

func TestAnOutageAcrossAChangeOfTheClocks(t *testing.T) {
	for name, c := range map[string]struct {
		zone, begin, end, claim string
		wrong                   string
	}{
		"set forward":                     {"America/Los_Angeles", "2026-03-08 01:30", "2026-03-08 03:30", "1 hour", ""},
		"hours as the clock showed":       {"America/Los_Angeles", "2026-03-08 01:30", "2026-03-08 03:30", "2 hours", "1h"},
		"set forward, an abbreviation":    {"PT", "2026-03-08 01:30", "2026-03-08 03:30", "1 hour", ""},
		"set forward, no zone":            {"", "2026-03-08 01:30", "2026-03-08 03:30", "1 hour", ""},
		"set back":                        {"Europe/Berlin", "2026-10-25 01:30", "2026-10-25 03:30", "3 hours", ""},
		"set back, the hour that repeats": {"PST", "2026-11-01 01:50", "2026-11-01 01:10", "20 minutes", ""},
		"no change on that day":           {"America/Los_Angeles", "2026-03-09 01:30", "2026-03-09 03:30", "1 hour", "is 2h"},
		"a zone without a season":         {"UTC", "2026-03-08 01:30", "2026-03-08 03:30", "1 hour", "is 2h"},
		"a region without a season":       {"Asia/Tokyo", "2026-03-08 01:30", "2026-03-08 03:30", "1 hour", "is 2h"},
	} {
		t.Run(name, func(t *testing.T) {
			raw := "# Outage\n\n## Summary\n\nThe outage lasted " + c.claim + ".\n\n## Timeline\n\nAll times " + c.zone +
				"\n\n- " + c.begin + " outage begins\n- " + c.end + " outage ends\n"
			found := rulesOf(checked(t, []byte(raw)))
			if c.wrong == "" && found != "" || !strings.HasSuffix(found, c.wrong) {
				t.Errorf("found %q, want %q", found, c.wrong)
			}
		})
	}
}

func TestAnOutageMayEndWhereItIsMitigated(t *testing.T) {
	const timeline = "\n\n## Timeline\n\nAll times UTC\n\n- 14:54 OUTAGE BEGINS\n- 16:00 OUTAGE MITIGATED\n"
	const closed = "- 16:30 INCIDENT ENDS\n"
	for name, c := range map[string]struct{ says, after, wrong string }{
		"said to end when mitigated":     {"down for 66 minutes", closed, ""},
		"said to end when closed":        {"down for 96 minutes", closed, ""},
		"said to end when resolved":      {"down for 96 minutes", "- 16:30 service restored\n", ""},
		"a bound on the time until then": {"down for at most 70 minutes", closed, ""},
		"neither":                        {"down for 30 minutes", closed, "is 1h36m"},
		"nothing but mitigated":          {"down for 30 minutes", "", "is 1h6m"},
		"a range until it is mitigated":  {"unavailable from 14:54 to 16:00 in this outage", closed, ""},
		"a range until neither":          {"unavailable from 14:54 to 15:20 in this outage", closed, "14:54 to 16:30"},
	} {
		t.Run(name, func(t *testing.T) {
			found := rulesOf(checked(t, []byte("# Outage\n\n## Summary\n\nSearch was "+c.says+"."+timeline+c.after)))
			if c.wrong == "" && found != "" || !strings.HasSuffix(found, c.wrong) {
				t.Errorf("found %q, want %q", found, c.wrong)
			}
		})
	}
}
