package grouping_test

import (
	"slices"
	"strings"
	"testing"

	"salve/internal/triage/grouping"
)

// TestMerger is one rule each: what the lines' patterns are.
func TestMerger(t *testing.T) {
	for _, test := range []struct {
		rule     string
		lines    []string
		patterns []string
	}{
		{"nothing gives nothing", nil, []string{}},
		{"numbers vary", []string{"berth 7 is free", "berth 12 is free"}, []string{"berth <*> is free"}},
		{"words don't, as long as there are few", []string{"gate is open", "gate is shut"}, []string{"gate is open",
			"gate is shut"}},
		{
			"many words in one column do",
			[]string{"ship Anna has left the north quay", "ship Berta has left the north quay",
				"ship Clara has left the north quay", "ship Dora has left the north quay"},
			[]string{"ship <*> has left the north quay"},
		},
		{
			"the less is the same, the more it takes",
			[]string{"hoist flag", "hoist sail", "hoist cargo", "hoist anchor"},
			[]string{"hoist anchor", "hoist cargo", "hoist flag", "hoist sail"},
		},
		{
			"a first word varies less easily",
			[]string{"pump startup succeeded", "radar startup succeeded", "sonar startup succeeded",
				"lamp startup succeeded", "radio startup succeeded"},
			[]string{"lamp startup succeeded", "pump startup succeeded", "radar startup succeeded",
				"radio startup succeeded", "sonar startup succeeded"},
		},
		{"values of a key vary", []string{"moored vessel=Anna", "moored vessel=Berta"}, []string{"moored vessel = <*>"}},
		{"users vary", []string{"session opened for user anna", "session opened for user berta"},
			[]string{"session opened for user <*>"}},
		{"truth varies", []string{"gate is open true", "gate is open null"}, []string{"gate is open <*>"}},
		{"lists are one", []string{"lost 1, 2, 3 crates", "lost 4 crates"}, []string{"lost <*> crates"}},
		{"folders are one", []string{"read /etc/tides", "read /var/lib/port/tides.db"}, []string{"read <*>"}},
		{"letters beside a number stay", []string{"link ee0 is up"}, []string{"link ee<num> is up"}},
		{"names with underscores are no hosts", []string{"read tide_table.of.port"}, []string{"read tide_table.of.port"}},
		{"hosts are one", []string{"call pilot.port.example", "call tug-3.sea.port.example"}, []string{"call <*>"}},
		{
			"classes of errors are not", []string{"caught org.port.TideException", "caught org.port.RopeError"},
			[]string{"caught org.port.RopeError", "caught org.port.TideException"},
		},
		{
			"brackets with nothing in them",
			[]string{"call from 10.0.0.1 (tug.port.example) ended", "call from 10.0.0.2 () ended"},
			[]string{"call from <*> ( <*> ) ended"},
		},
		{
			"columns that vary together, where they look like values",
			[]string{"load a.cfg as x.so today", "load b.cfg as y.so today", "load c.cfg as z.so today"},
			[]string{"load <*> as <*> today"},
		},
		{"two words that differ are two statements", []string{"crane lifts crate", "crane drops anchor"},
			[]string{"crane drops anchor", "crane lifts crate"}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			got := []string{}
			lines := []string{}
			for _, group := range groups(test.lines) {
				got = append(got, group.Pattern)
				lines = append(lines, group.Lines...)
			}
			if !slices.Equal(got, test.patterns) {
				t.Errorf("%q, expected %q", got, test.patterns)
			}
			slices.Sort(lines)
			if given := slices.Sorted(slices.Values(test.lines)); !slices.Equal(lines, given) {
				t.Errorf("lines %q of %q", lines, given)
			}
		})
	}
}

// TestMask is one notation each.
func TestMask(t *testing.T) {
	for line, masked := range map[string]string{
		"": "",
		"took 5 minutes, 1.5 s, 250ms, 1m30s and 2h0m0.5s": "took <duration>, <duration>, <duration>, <duration> and " +
			"<duration>",
		"512Mi of 2GiB is 25% at 3.60GHz":            "<size> of <size> is <num> at <size>",
		"1.16 KB, <1 sec, expected <3>, 7 seconders": "<size>, <duration>, expected <<num>>, <num> seconders",
		"-3 and +4 but 2-3":                          "<num> and <num> but <num>-<num>",
		"blk_-7 and blk_7":                           "blk_<num> and blk_<num>",
		"1e9 and 1.5e-3":                             "<num> and <num>",
		"at 2026-11-23T21:14:05.113Z":                "at <time>",
		"at 2026-11-23 21:14:05,113 +0100 CET":       "at <time>",
		"at 2026/11/23 21:14:05":                     "at <time>",
		"at [10/Oct/2026:13:55:36 -0700]":            "at [<time>]",
		"at 23.11.2026, on 2026-11-23":               "at <time>, on <time>",
		"at Mon, 02 Jan 2006 15:04:05 GMT":           "at <time>",
		"at Mon Nov 23 21:14:05 UTC 2026":            "at <time>",
		"at Nov  3 21:14:05 quay":                    "at <time> quay",
		"at 9:14:05 PM":                              "at <time>",
		"may 3 ships march on Sunday":                "may <num> ships march on Sunday",
		"version 1.19.2, release v2":                 "version <num>, release v<num>",
		"5c0f4a3e-1234-4000-8000-0123456789AB":       "<uuid>",
		"0x1f and 0XFF but 0xg":                      "<hex> and <hex> but <num>xg",
		"commit 9fceb02 of deadbeef12 is a facade":   "commit <hex> of <hex> is a facade",
		"10.0.0.1 10.0.0.1:80 10.0.0.0/16 1.2.3":     "<ip> <ip> <ip> <num>",
		"1.2.3.4.5 1.2.3.4x std::0 12345::1":         "<num> <num>.<num>.<num>.<num>x std::<num> <num>::<num>",
		"ab:1b:44:11:3a:b7 fc0f4a3e-1234-4000-8000-0123456789ab deadbeefdeadbeefdeadbeef": "<mac> <uuid> <hex>",
		"2026-11/23":              "<num>-<num>/<num>",
		"deadbeef12zz 0x1fz 5m7x": "deadbeef<num>zz <id> <id>",
		"::1 fe80::1 2001:db8:0:0:0:0:0:1 a::b std::move": "<ip> <ip> <ip> a::b std::move",
		"00:1b:44:11:3a:b7 and 00-1B-44-11-3A-B7":         "<mac> and <mac>",
		"see https://port.example/a?b=1.":                 "see <url>.",
		"(http://port.example:80/a/b)":                    "(<url>)",
		"open /var/lib/port/tides.db":                     "open <path>/tides.db",
		"source /var/log//port/quay.log // a note":        "source <path>/quay.log // a note",
		"GET /healthz and a/b/c.go":                       "GET /healthz and a/b/c.go",
		`open C:\port\tides.db`:                           `open <path>\tides.db`,
		"ferry-7d9c5b8f6-x2kqz":                           "ferry-<hex>-<id>",
		"worker2 us-west1-a e2e i-0d1f2dfeb37c586ad":      "worker<num> us-west<num>-a e<num>e i-<hex>",
		"node kind-worker2 and node not ready":            "node <node> and node not ready",
		`host "tug-3.port.example": gone`:                 `host "<node>": gone`,
		"<num> of <hex> in <div>":                         "<num> of <hex> in <div>",
		"Größe 12 größer":                                 "Größe <num> größer",
	} {
		if got := grouping.Mask(line); got != masked {
			t.Errorf("Mask(%q)\n%q, expected\n%q", line, got, masked)
		}
	}
}

// TestLongLinesAreOneTokenBeyondTheLimit, and so take part all the same.
func TestLongLinesAreOneTokenBeyondTheLimit(t *testing.T) {
	var m grouping.Merger
	for i := range 4 {
		words := make([]string, 300)
		for j := range words {
			words[j] = "w" + strings.Repeat(string(rune('a'+j%26)), 1+j/26)
		}
		words[270], words[280] = "crate"+string(rune('a'+i)), "crane"+string(rune('a'+i))
		m.Add(strings.Join(words, " "))
	}
	if got := m.Groups(); len(got) != 1 || len(strings.Fields(got[0].Pattern)) != 257 {
		t.Errorf("%d groups of %d tokens", len(got), len(strings.Fields(got[0].Pattern)))
	}
}
