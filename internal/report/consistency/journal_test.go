package consistency_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"salve/internal/report/consistency"
	"salve/journal"
	"salve/runbook"
)

const run = "20240205-084700-4f1a2b"

func history(t *testing.T) *journal.History {
	t.Helper()
	verdict := journal.Verdict{Outcome: runbook.Failed}
	raw, err := json.Marshal(verdict)
	if err != nil {
		t.Fatal(err)
	}
	at := func(clock string) time.Time {
		when, err := time.Parse(time.RFC3339, "2024-02-05T"+clock+"Z")
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	return &journal.History{Header: journal.Header{Run: run}, Closed: &verdict, Entries: []journal.Entry{
		{Seq: 1, At: at("08:47:10"), Kind: journal.Opened},
		{Seq: 2, At: at("08:55:00"), Kind: journal.Intended, Step: "delete-pool"},
		{Seq: 3, At: at("09:30:00"), Kind: journal.Closed, Data: raw},
	}}
}

func TestTimelineAgainstJournal(t *testing.T) {
	const body = "# Outage, February 5th, 2024\n\n## Summary\n\nRun " + run + " ended as OUTCOME.\n\n## Timeline\n\n" +
		"All times in ZONE\n\n- START run " + run + " starts\n- STEP delete-pool\n"
	for name, c := range map[string]struct{ outcome, zone, start, step, want string }{
		"all agree":              {"failed", "UTC", "08:47", "08:55", ""},
		"agree in another zone":  {"failed", "PST", "00:47", "00:55", ""},
		"a step at another time": {"failed", "UTC", "08:47", "09:05", "has it at 2024-02-05 08:55:00 UTC"},
		"another outcome":        {"remediated", "UTC", "08:47", "08:55", "is failed"},
		"an unknown zone":        {"failed", "IST", "08:47", "08:55", `the time zone "IST" is unknown`},
	} {
		t.Run(name, func(t *testing.T) {
			raw := strings.NewReplacer("OUTCOME", c.outcome, "ZONE", c.zone, "START", c.start, "STEP", c.step).Replace(body)
			found, err := consistency.Check([]byte(raw), consistency.Options{Runs: []*journal.History{history(t)}})
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" && len(found) > 0 || c.want != "" && !strings.Contains(rulesOf(found), c.want) {
				t.Errorf("found %q, want %q", rulesOf(found), c.want)
			}
		})
	}
}
