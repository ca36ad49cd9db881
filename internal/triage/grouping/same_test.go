package grouping_test

import (
	"strings"
	"testing"

	"salve/internal/triage/grouping"
)

func text(s string) grouping.Failure { return grouping.Failure{Text: s} }

// TestOneFailureKeepsItsKey whatever differs from run to run.
func TestOneFailureKeepsItsKey(t *testing.T) {
	stack := "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 7 [running]:\n" +
		"example.com/quay.Assign(0xc000010018)\n\t/home/ci/src/quay/plan.go:88 +0x1d\n"
	for rule, same := range map[string][]grouping.Failure{
		"numbers of any length": {
			text("harbour 7 lost 3 of 12 berths"), text("harbour 18231 lost 0 of 1,416 berths"),
			text("harbour -1 lost 2.5 of 3e8 berths"),
		},
		"numbers with units": {
			text("tide took 5s for 12Mi of water"), text("tide took 1m30.5s for 2GiB of water"),
			text("tide took 17 for 80% of water"),
		},
		"notations of time": {
			text("buoy drifted at 2026-11-23T21:14:05Z"), text("buoy drifted at Mon Nov 23 21:14:05 UTC 2026"),
			text("buoy drifted at 23/Nov/2026:21:14:05 +0000"), text("buoy drifted at 2026-11-23 21:14:05.113 +0000 UTC"),
			text("buoy drifted at 11/23/26 21:14:05.113"), text("buoy drifted at Nov  3 21:14:05"),
			text("buoy drifted at 9:14:05 PM"),
		},
		"addresses": {
			text("pilot at 10.0.0.1:443 left"), text("pilot at 2001:db8::1 left"), text("pilot at 192.168.100.200 left"),
			text("pilot at 00:1b:44:11:3a:b7 left"),
		},
		"random names": {
			text("pod ferry-7d9c5b8f6-x2kqz sank at the quay"), text("pod ferry-5f4d8c9b77-zzbcd sank at the quay"),
		},
		"names of machines": {
			text("cargo lost on node kind-worker2 today"), text("cargo lost on node aks-pool1-31467719-vmss000004 today"),
			text("cargo lost on node ip-10-1-2-3.eu-west-1.compute.internal today"),
			text("cargo lost on node i-0d1f2dfeb37c586ad today"),
		},
		"names of clusters": {
			text("cluster e2e-a lost its quorum at dawn"), text("cluster e2e-westus-b lost its quorum at dawn"),
		},
		"names that DNS doesn't know": {
			text("dial tcp: lookup e2e-a-5f1c.hcp.eastus.port.example on 10.0.0.10:53: no such host"),
			text("dial tcp: lookup e2e-b-9.hcp.westus.port.example on 10.1.0.10:53: no such host"),
		},
		"identifiers": {
			text("berth 5c0f4a3e-1234-4000-8000-0123456789ab of deed 9fceb02 at 0x1f is taken"),
			text("berth 00000000-ffff-4abc-9def-cafecafecafe of deed a1b2c3d4e5f6 at 0xC000010018 is taken"),
		},
		"folders of the checkout": {
			text("open /home/ci/src/tides.db: database is locked"), text("open /builds/17/tides.db: database is locked"),
			text(`open C:\agent\_work\tides.db: database is locked`),
		},
		"servers": {
			text(`Get "https://10.0.0.1:6443/api": dial tcp 10.0.0.1:6443: connect: connection refused`),
			text(`Get "https://aks-1.example.org/healthz?t=1": dial tcp 10.9.0.1:443: connect: connection refused`),
		},
		"a stack in another folder, at lines that moved": {
			text(stack), text(strings.NewReplacer("/home/ci/src", "/tmp/go", ":88", ":91", "0xc000010018",
				"0x7").Replace(stack)),
		},
		"places of one specific message": {
			{Message: "shared cluster lost its quorum", File: "a_test.go", Line: 3},
			{Message: "shared cluster lost its quorum", File: "b_test.go", Line: 9},
		},
		"what a logger puts before": {
			text("mooring lines are tangled"), text("2026-11-23 21:14:05.113 4711 ERROR mooring lines are tangled"),
			text("[-] mooring lines are tangled"), text("E1123 21:04:05.678901    1234 quay.go:12] mooring lines are tangled"),
		},
		"line ends and colours": {
			text("bilge pump stopped\nat once"), text("bilge pump stopped\r\nat once\r\n"),
			text("\x1b[31mbilge pump stopped\x1b[0m\nat once"),
		},
		"a reporter that repeats the text": {
			text("bilge pump stopped"), {Message: "bilge pump stopped"}, {Message: "bilge pump stopped",
				Text: "bilge pump stopped"},
			{Message: "Failed", Text: "bilge pump stopped"},
		},
	} {
		t.Run(rule, func(t *testing.T) {
			first := grouping.Identify(same[0])
			for _, f := range same[1:] {
				if got := grouping.Identify(f); got.Key != first.Key {
					t.Errorf("%+v\n%+v\nexpected the key of\n%+v", f, got, first)
				}
			}
		})
	}
}

// TestDifferentFailuresHaveDifferentKeys: what an author wrote, and where it says too little the place.
func TestDifferentFailuresHaveDifferentKeys(t *testing.T) {
	panicIn := func(function string) grouping.Failure {
		return text("panic: runtime error: index out of range [5] with length 3\n\ngoroutine 7 [running]:\n" +
			"sort.Slice({0x1, 0x2})\n\t/usr/local/go/src/sort/slice.go:26 +0x13\n" +
			"example.com/quay." + function + "(0xc000010018)\n\t/src/quay/plan.go:88 +0x1d\n")
	}
	for rule, different := range map[string][]grouping.Failure{
		"words": {text("bilge pump stopped"), text("bilge pump started"),
			text("bilge pump leaks")},
		"a file's name": {text("open /etc/tides.db: database is locked"),
			text("open /etc/berths.db: database is locked")},
		"frames of a language's error": {panicIn("Assign"), panicIn("(*Plan).Assign"), panicIn("Release")},
		"files of a message of any place": {{Message: "exit status 1", File: "a_test.go", Line: 3},
			{Message: "exit status 1", File: "b_test.go", Line: 3}},
		"conditions by their place": {
			text("[FAILED] timed out waiting for the condition\nIn [It] at: e2e/ferry.go:1 @ 11/23/26 21:14:05.113"),
			text("[FAILED] timed out waiting for the condition\nIn [It] at: e2e/crane.go:1 @ 11/23/26 21:14:05.113"),
		},
		"tests of an assertion of any place": {
			text("\tError Trace:\ta_test.go:3\n\tError:      \tShould be true\n\tTest:       \tTestA/one\n"),
			text("\tError Trace:\ta_test.go:3\n\tError:      \tShould be true\n\tTest:       \tTestB/one\n"),
		},
		"hosts of other services": {
			text("could not resolve host: charts.port.example"), text("could not resolve host: tides.port.example"),
		},
		"classes": {{Type: "a.SealException", Message: "seal broken"}, {Type: "a.RopeException", Message: "seal broken"}},
	} {
		t.Run(rule, func(t *testing.T) {
			keys := map[grouping.Key]grouping.Failure{}
			for _, f := range different {
				key := grouping.Identify(f).Key
				if other, taken := keys[key]; taken {
					t.Errorf("%+v\nhas the key of\n%+v", f, other)
				}
				keys[key] = f
			}
		})
	}
}

func TestParseKey(t *testing.T) {
	for s, version := range map[string]int{
		string(grouping.Identify(text("bilge pump stopped")).Key): grouping.Version,
		"g1-0123456789abcdef": 1, "g12-0123456789abcdef": 12,
		"": 0, "g1": 0, "g1-": 0, "g0-0123456789abcdef": 0, "g01-0123456789abcdef": 0, "g+1-0123456789abcdef": 0,
		"g1-0123456789ABCDEF": 0, "g1-0123456789abcde": 0, "g1-0123456789abcdef0": 0, "1-0123456789abcdef": 0,
		"g99999999999999999999-0123456789abcdef": 0, "g1-0123456789abcdef\n": 0,
	} {
		if got, ok := grouping.ParseKey(s); got != version || ok != (version > 0) {
			t.Errorf("ParseKey(%q) = %d, %v", s, got, ok)
		}
	}
}
