package consistency_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"salve/internal/report/consistency"
	"salve/internal/report/postmortem"
	"salve/internal/report/reporttest"
	"salve/journal"
)

// contradicting leaves out what a fresh draft leaves to people: questions and action items.
func contradicting(t *testing.T, raw string, runs ...*journal.History) []consistency.Finding {
	t.Helper()
	found, err := consistency.Check([]byte(raw), consistency.Options{Runs: runs})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(found, func(f consistency.Finding) bool {
		return slices.Contains([]string{consistency.PlaceholderLeft, consistency.ActionWithoutOwnerOrLink,
			consistency.PoorlyWithoutAction}, f.Rule)
	})
}

func drafted(t *testing.T, sources postmortem.Sources, options postmortem.Options) string {
	t.Helper()
	return string(postmortem.Document(postmortem.Blocks(reporttest.Draft(t, sources, options))))
}

func TestAFreshDraftDoesNotContradictItsJournals(t *testing.T) {
	for _, sample := range reporttest.Samples(t) {
		middle := reporttest.Morning().Add(3 * time.Minute)
		for name, options := range map[string]postmortem.Options{
			"whole": {}, "until the middle": {Until: middle}, "from the middle on": {Since: middle},
			"local time is UTC": {Zone: time.UTC},
		} {
			if sample.Name == "wide" && name != "whole" {
				continue // it takes long, and the bounds do the same to all
			}
			t.Run(sample.Name+", "+name, func(t *testing.T) {
				raw := drafted(t, sample.Sources, options)
				if found := contradicting(t, raw, sample.Sources.Runs...); len(found) > 0 {
					t.Errorf("%s\n%v", rulesOf(found), found)
				}
				if len(sample.Sources.Runs) < 2 {
					return
				}
				for _, run := range sample.Sources.Runs { // one of several runs may be checked alone
					if found := contradicting(t, raw, run); len(found) > 0 {
						t.Errorf("with %s alone: %s", run.Header.Run, rulesOf(found))
					}
				}
			})
		}
	}
}

// The run is of aks-recreate-pool, and has a step recreate.
func TestAMovedLineContradictsTheSourceThatItCites(t *testing.T) {
	run := reporttest.NeverJoined(t)
	raw := drafted(t, postmortem.Sources{Runs: []*journal.History{run}}, postmortem.Options{})
	rows := regexp.MustCompile("(?m)^\\| (\\S+ \\S+) \\| .* `"+run.Header.Run+"#(\\d+)` \\|$").FindAllStringSubmatch(raw, -1)
	if len(rows) < 10 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		if i%3 != 0 {
			continue
		}
		moved := strings.Replace(raw, row[0], strings.Replace(row[0], row[1], "2019-02-05 23:00:00", 1), 1)
		want := "has its source, entry " + row[2] + ", at " + row[1] + " UTC"
		found := rulesOf(contradicting(t, moved, run))
		if !strings.Contains(found, want) {
			t.Errorf("%s: found %q, want %q", row[0], found, want)
		}
	}
}

func TestATimelineMayBeInAnotherZoneThanTheAppendix(t *testing.T) {
	run := reporttest.Recovered(t)
	raw := drafted(t, postmortem.Sources{Runs: []*journal.History{run}}, postmortem.Options{})
	begin, end := strings.Index(raw, "| UTC |"), strings.Index(raw, "All 21 events: in the appendix.")
	local := raw[:begin] + "All times PST\n\n- 08:47:02 step add-stand-in is begun\n\n" + raw[end:]
	if found := contradicting(t, local, run); len(found) > 0 {
		t.Errorf("%s", rulesOf(found))
	}
}

func TestASourceMustBeThere(t *testing.T) {
	run := reporttest.Recovered(t)
	raw := drafted(t, postmortem.Sources{Runs: []*journal.History{run}}, postmortem.Options{})
	last := strconv.Itoa(len(run.Entries))
	for _, section := range []string{"## Impact", "## Timeline"} {
		at := strings.Index(raw, section)
		forged := raw[:at] + strings.Replace(raw[at:], run.Header.Run+"#2", run.Header.Run+"#99", 1)
		found := rulesOf(contradicting(t, forged, run))
		if want := "there is no source " + run.Header.Run + "#99: the last entry of that journal is " + last; !strings.
			Contains(found, want) {
			t.Errorf("%s: found %q, want %q", section, found, want)
		}
	}
}

func TestAForgedFigureContradictsTheJournal(t *testing.T) {
	run := reporttest.Recovered(t)
	raw := drafted(t, postmortem.Sources{Runs: []*journal.History{run}}, postmortem.Options{})
	for name, c := range map[string]struct{ old, new, want string }{
		"how long, in the summary":    {"UTC, 24m10s; 1 step", "UTC, 22m12s; 1 step", `"22m12s"; by its journal run`},
		"how long, in the resolution": {"24m10s after it was", "14m10s after it was", `"14m10s"; by its journal run`},
		"how long, in the lessons":    {"within 24m10s", "within 24m40s", `"24m40s"; by its journal run`},
		"attempts":                    {"1 step attempt done", "9 step attempts done", "said to be 9 step attempts done"},
		"attempts that failed":        {", 2 failed or not known", ", 0 failed or not known", "0 failed or not known; by"},
		"retries":                     {", 1 retry", ", 3 retries", "said to be 3 retries"},
		"requests":                    {"sent 4 changing", "sent 93 changing", "said to be 93 changing requests"},
		"fewer requests":              {"sent 4 changing", "sent 3 changing", "said to be 3 changing requests"},
		"refused":                     {"of which 3 were", "of which 0 were", "said to be 0 refused or not answered"},
	} {
		t.Run(name, func(t *testing.T) {
			forged := strings.Replace(raw, c.old, c.new, 1)
			if forged == raw {
				t.Fatal("nothing was forged")
			}
			found := contradicting(t, forged, run)
			if len(found) != 1 || !strings.Contains(rulesOf(found), c.want) ||
				found[0].Rule != consistency.ContradictsJournal || len(found[0].Quotes) != 2 {
				t.Errorf("found %v, want %q", found, c.want)
			}
		})
	}
}

func TestHandWrittenFiguresAgainstTheJournal(t *testing.T) {
	run := reporttest.Recovered(t) // 24m10s, of them 20m of waiting; 3 attempts; 4 requests
	r := run.Header.Run
	for says, want := range map[string]string{
		"Run R took 45 minutes.": `"45 minutes"; by its journal`,
		"Run `R` took about 45 minutes and sent 500 changing requests.":       "500 changing requests",
		"Run R took 45 minutes. It sent 500 changing requests.":               "500 changing requests",
		"Run R of Ana lasted 1h5m.":                                           `"1h5m"; by its journal`,
		"Run R made 9 step attempts.":                                         "9 step attempts",
		"Run R took 24 minutes.":                                              "",
		"Run R took less than half an hour.":                                  "",
		"Run R took 4 minutes, the wait for an operator aside.":               "",
		"Run R took about 25 minutes and sent 4 changing requests.":           "",
		"Run R sent more than 3 changing requests.":                           "",
		"Run R made 3 step attempts.":                                         "",
		"Run R: the step delete-pool took 45 minutes to agree on.":            "",
		"Run R needed us; lunch took 45 minutes.":                             "",
		"Step add-stand-in of run R sent 2 changing requests.":                "",
		"We began run R. Terraform sent 500 changing requests on that day.":   "",
		"Runs R and 20200101-000000-abcdef took 45 minutes, 9 step attempts.": "",
		"Run R-2 took 45 minutes.":                                            "",
	} {
		raw := "# Outage\n\n## Summary\n\n" + strings.ReplaceAll(says, "R", r) + "\n"
		raw = strings.Replace(raw, r+"un", "Run", 1)
		found := rulesOf(contradicting(t, raw, run))
		if want == "" && found != "" || !strings.Contains(found, want) {
			t.Errorf("%s: found %q, want %q", says, found, want)
		}
	}
}

func TestWhatALineOfTheTimelineMeans(t *testing.T) {
	recreated, other := reporttest.NeverJoined(t), reporttest.Recovered(t)
	const head = "# Outage 2019-02-05\n\n## Summary\n\nRuns A and B.\n\n## Timeline\n\nAll times UTC\n\n"
	for line, want := range map[string]string{
		"- 12:00 we looked at aks-recreate-pool":                     "",
		"- 12:00 we drain the cluster by hand":                       "",
		"- 12:00 step drain of run B is begun":                       "run 20190205-164700-aaaaaa has it",
		"- 12:00 step drain is begun":                                "0abc0a has it at 2019-02-05 16:50:35",
		"- 12:00 delete-pool":                                        "has it at",
		"- 17:11 delete-pool":                                        "",
		"- 17:11 run A, delete-pool":                                 "run 20190205-164700-0abc0a has it at",
		"- 17:11 run B, delete-pool":                                 "",
		"- 12:00 run 20200101-000000-abcdef begins with delete-pool": "",
		"- 16:50 B#11 took over":                                     "has its source, entry 11, at 2019-02-05 17:10:38",
	} {
		raw := head + line + "\n"
		raw = regexp.MustCompile(`\bA\b`).ReplaceAllString(raw, recreated.Header.Run)
		raw = regexp.MustCompile(`\bB\b`).ReplaceAllString(raw, other.Header.Run)
		found := rulesOf(contradicting(t, raw, recreated, other))
		if want == "" && found != "" || !strings.Contains(found, want) {
			t.Errorf("%s: found %q, want %q", line, found, want)
		}
	}
}

func TestTheZoneOfATimelineThatIsHeldAgainstAJournal(t *testing.T) {
	run := reporttest.Recovered(t)
	for _, c := range []struct{ name, zone, at, want string }{
		{"all UTC", "All UTC", "16:47", ""},
		{"all UTC, and wrong", "All UTC", "12:47", "has it at 2019-02-05 16:47"},
		{"all in UTC", "All events are in UTC.", "16:47", ""},
		{"a region", "All times America/Los_Angeles", "08:47", ""},
		{"a region, and wrong", "All times America/Los_Angeles", "16:47", "has it at"},
		{"the other season's abbreviation", "All times PDT", "08:47", ""},
		{"without a season", "All times PT", "08:47", ""},
		{"none", "", "16:47", "not-compared: 2 lines of the timeline can't be held against the journals: the post-mortem " +
			"names no time zone"},
		{"an ambiguous one", "All times CST", "16:47", `the time zone "CST" is unknown`},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw := "# Outage 2019-02-05\n\n## Timeline\n\n" + c.zone + "\n\n- " + c.at + " run " + run.Header.Run +
				" is opened\n- " + c.at + " run " + run.Header.Run + " is at work\n"
			found := rulesOf(contradicting(t, raw, run))
			if c.want == "" && found != "" || !strings.Contains(found, c.want) {
				t.Errorf("found %q, want %q", found, c.want)
			}
			if strings.Count(found, consistency.NotCompared) > 1 {
				t.Errorf("said more than once: %q", found)
			}
		})
	}
}
