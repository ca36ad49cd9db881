package consistency_test

import (
	"strings"
	"testing"
)

type asked struct{ says, want string }

func ask(t *testing.T, cases []asked, raw func(says string) string) {
	t.Helper()
	for _, c := range cases {
		found := rulesOf(checked(t, []byte(raw(c.says))))
		if c.want == "" && found != "" || !strings.Contains(found, c.want) {
			t.Errorf("%s: found %q, want %q", c.says, found, c.want)
		}
	}
}

func TestADurationAgainstTheRangeBesideIt(t *testing.T) {
	ask(t, []asked{
		{"The outage lasted 45 minutes (10:00-12:00 UTC).", `"45 minutes", and 10:00-12:00 UTC is 2h`},
		{"The outage lasted 45 minutes, from 10:00 to 12:00 UTC.", "is 2h"},
		{"A 45 minute outage (10:00-12:00 UTC).", "is 2h"},
		{"Outage: 10:00 - 12:00 UTC (45 minutes).", "is 2h"},
		{"The outage lasted 2 hours (10:00-12:00 UTC).", ""},
		{"The outage lasted about 2 hours (10:10-12:00 UTC).", ""},
		{"The outage lasted 2 hours (11:00-1:00 PM).", ""},
		{"The outage lasted 2 hours (23:00-01:00).", ""},
		{"The outage lasted 26 hours (10:00-12:00 UTC).", ""},
		{"The outage lasted 45 minutes for Europe (all others: 10:00-12:00 UTC).", ""},
		{"The outage lasted 45 minutes, with errors from 10:00 to 12:00.", ""},
		{"The outage lasted 45 minutes (worst 10:00-10:10).", ""},
		{"The database was restored at 12:00 (45 minutes).", ""},
		{"The outage was 10:00-12:00 UTC (45 minutes of it total).", ""},
	}, func(says string) string { return "# Outage\n\n## Summary\n\n" + says + "\n" })
	ask(t, []asked{{"The outage lasted 1 hour (01:30-03:30).", ""}, {"The outage lasted 2 hours (01:30-03:30).", "is 1h"}},
		func(says string) string {
			return "# Outage 2026-03-08\n\nAll times America/Los_Angeles\n\n## Summary\n\n" + says + "\n"
		})
}

func TestHowSoonItWasDetected(t *testing.T) {
	const late = "- 10:00 outage begins\n- 10:40 first alert fires\n- 12:00 outage ends\n"
	for timeline, cases := range map[string][]asked{
		late: {
			{"Detected within 5 minutes.", `detected in "5 minutes", and by the timeline the first notice came 40m after`},
			{"It was detected after only 5 minutes of impact.", "came 40m after"},
			{"Time to detect: 5 minutes.", "came 40m after"},
			{"We were paged within 5 minutes of the start.", "came 40m after"},
			{"Detected within 40 minutes.", ""},
			{"Detected within an hour.", ""},
			{"Detected within 5 minutes of the deploy.", ""},
			{"It was detected in 5 clusters.", ""},
			{"More than 5 minutes went by.", ""},
		},
		"- 10:00 outage begins\n- 10:04 users complain\n- 10:40 first alert fires\n":    {{"Detected within 5 minutes.", ""}},
		"- 10:00 outage begins\n- 10:04 bo starts to investigate\n- 10:40 an alert\n":   {{"Detected within 5 minutes.", ""}},
		"- 10:00 impact begins\n- 10:38 outage begins\n- 10:40 first alert fires\n":     {{"Detected within 5 minutes.", ""}},
		"- 10:00 a bad change is merged\n- 10:40 first alert fires\n- 12:00 resolved\n": {{"Detected within 5 minutes.", ""}},
		"- 10:00 outage begins\n- 10:40 we roll back\n":                                 {{"Detected within 5 minutes.", ""}},
	} {
		ask(t, cases, func(says string) string {
			return "# Outage\n\n## Detection\n\n" + says + "\n\n## Timeline\n\nAll times UTC\n\n" + timeline
		})
	}
}

func TestTimesAndDatesThatThereAreNot(t *testing.T) {
	ask(t, []asked{
		{"- 25:10 we roll back", "25:10 is no time of day"},
		{"- 10:61 we roll back", "10:61 is no time of day"},
		{"- 2026-02-30 10:20 we roll back", "there is no 2026-02-30"},
		{"- 10:20 the backup of April 31st, 2025 is used", "there is no April 31st, 2025"},
		{"- 10:20 the backup of 2028-02-29 is used", ""},
		{"- 10:20 the backup of 2026-02-29 is used", "there is no 2026-02-29"},
		{"- 10:20 build 2026-45-12 is used", ""},
		{"- 10:20 a ratio of 25:99 is seen", ""},
	}, func(says string) string {
		return "# Outage\n\n## Timeline\n\nAll times UTC\n\n- 10:00 outage begins\n" + says + "\n- 10:30 outage ends\n"
	})
	for name, raw := range map[string]string{
		"minutes and seconds since the begin": "- 00:00 begins\n- 12:40 rises\n- 25:10 falls\n",
		"hours that go on after midnight":     "- 10:00 begins\n- 23:50 rises\n- 25:10 falls\n- 26:00 is over\n",
		"the end of a day":                    "- 10:00 begins\n- 24:00 is over\n",
	} {
		if found := checked(t, []byte("# Outage\n\n## Timeline\n\n"+raw)); len(found) > 0 {
			t.Errorf("%s: %s", name, rulesOf(found))
		}
	}
	found := rulesOf(checked(t, []byte("# Outage of 2026-02-30\n")))
	if !strings.Contains(found, "there is no 2026-02-30") {
		t.Errorf("in the title: %q", found)
	}
}

func TestWhoAndWhereAnActionItemIs(t *testing.T) {
	const lacking = "action item without an owner"
	ask(t, []asked{
		{"Add an alert @here", lacking},
		{"Add an alert @channel", lacking},
		{"Add an alert @here @bo", ""},
		{"Add an alert @heredia", ""},
		{"Add an alert. See https://en.wikipedia.org", lacking},
		{"Add an alert. See <https://example.com/>.", lacking},
		{"Add an alert. See [Wikipedia](https://en.wikipedia.org/wiki/Alarm)", lacking},
		{"Add an alert. See https://en.wikipedia.org/wiki/Alarm", lacking},
		{"Add an alert: https://example.com/issues/7", ""},
		{"Add an alert: [ticket](https://example.com/issues/7)", ""},
		{"Add an alert: [plan](plans/alerts.md)", ""},
		{"Add an alert, see https://tickets.example.com?id=7", ""},
	}, func(says string) string { return "# Outage\n\n## Action items\n\n- " + says + "\n" })
}
