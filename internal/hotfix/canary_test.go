package hotfix_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"salve/internal/hotfix"
)

// The nodes of the table. What they draw for 202604.01.3 is fixed for ever, or a new salve-node would draw a fleet
// anew.
var (
	early = hotfix.Node{Version: "202604.01.1", ID: "node-11"} // draws 251
	late  = hotfix.Node{Version: "202604.01.1", ID: "node-0"}  // draws 7084
)

// canaryRules are the rules about a share of a base's nodes.
var canaryRules = []struct {
	name, pointer string
	early, late   string // the target, or the reason why there is none
}{
	{"a share takes it", `{"canaries": {"202604.01": {"version": "202604.01.3", "percent": 10}}}`,
		"202604.01.3", "not-in-canary"},
	{"nobody takes none of it", `{"canaries": {"202604.01": {"version": "202604.01.3", "percent": 0}}}`,
		"not-in-canary", "not-in-canary"},
	{"all of them take all of it", `{"canaries": {"202604.01": {"version": "202604.01.3", "percent": 100}}}`,
		"202604.01.3", "202604.01.3"},
	{"decimals: just enough", `{"canaries": {"202604.01": {"version": "202604.01.3", "percent": 2.52}}}`,
		"202604.01.3", "not-in-canary"},
	{"decimals: just not enough", `{"canaries": {"202604.01": {"version": "202604.01.3", "percent": 2.51}}}`,
		"not-in-canary", "not-in-canary"},
	{"the others take what is for all",
		`{"hotfixes": {"202604.01": "202604.01.2"}, "canaries": {"202604.01": {"version": "202604.01.3", "percent": 10}}}`,
		"202604.01.3", "202604.01.2"},
	{"the others take what is for all by version",
		`{"version": "202604.01.2", "canaries": {"202604.01": {"version": "202604.01.3", "percent": 10}}}`,
		"202604.01.3", "202604.01.2"},
	{"beside other bases' hotfixes",
		`{"hotfixes": {"202605.01": "202605.01.2"}, "canaries": {"202604.01": {"version": "202604.01.3", "percent": 10}}}`,
		"202604.01.3", "not-in-canary"},
	{"beside other bases' version",
		`{"version": "202605.01.2", "canaries": {"202604.01": {"version": "202604.01.3", "percent": 10}}}`,
		"202604.01.3", "not-in-canary"},
	{"beside what the image has already",
		`{"hotfixes": {"202604.01": "202604.01.1"}, "canaries": {"202604.01": {"version": "202604.01.3", "percent": 10}}}`,
		"202604.01.3", "not-in-canary"},
	{"what is for all can't widen it",
		`{"hotfixes": {"202604.01": "202604.01.3"}, "canaries": {"202604.01": {"version": "202604.01.3", "percent": 10}}}`,
		"202604.01.3", "not-in-canary"},
	{"nor with another suffix",
		`{"hotfixes": {"202604.01": "202604.01.3-u1"}, "canaries": {"202604.01": {"version": "202604.01.3", "percent": 10}}}`,
		"202604.01.3", "not-in-canary"},
	{"a canary that all are ahead of is no matter",
		`{"hotfixes": {"202604.01": "202604.01.4"}, "canaries": {"202604.01": {"version": "202604.01.3", "percent": 10}}}`,
		"202604.01.4", "202604.01.4"},
	{"a canary that the image is ahead of is no matter",
		`{"hotfixes": {"202604.01": "202604.01.2"}, "canaries": {"202604.01": {"version": "202604.01.1", "percent": 100}}}`,
		"202604.01.2", "202604.01.2"},
	{"what is taken back is taken back from the canary too",
		`{"hotfixes": {"202604.01": ""}, "canaries": {"202604.01": {"version": "202604.01.3", "percent": 100}}}`,
		"explicitly-none", "explicitly-none"},
	{"beside what is invalid",
		`{"hotfixes": {"202604.01": 7}, "canaries": {"202604.01": {"version": "202604.01.3", "percent": 100}}}`,
		"target-malformed", "target-malformed"},
	{"another base's canary is no matter",
		`{"version": "202604.01.2", "canaries": {"202605.01": {"version": "202605.01.3", "percent": 10}}}`,
		"202604.01.2", "202604.01.2"},
	{"another base's broken canary is no matter",
		`{"version": "202604.01.2", "canaries": {"202605.01": {"version": 7, "percent": "x"}, "202606.01": 1}}`,
		"202604.01.2", "202604.01.2"},
	{"no canary is none", `{"version": "202604.01.2", "canaries": {"202604.01": null}}`, "202604.01.2", "202604.01.2"},
	{"no canaries are none", `{"version": "202604.01.2", "canaries": null}`, "202604.01.2", "202604.01.2"},
	{"an empty map is none", `{"version": "202604.01.2", "canaries": {}}`, "202604.01.2", "202604.01.2"},
	{"an unknown field of a canary", `{"canaries": {"202604.01": {"version": "202604.01.3", "percent": 10, "why": 1}}}`,
		"202604.01.3", "not-in-canary"},
	{"no scripts are any canary's matter",
		`{"hotfixes": {"202604.01": null}, "canaries": {"202604.01": {"version": "202604.01.3", "percent": 10}}}`,
		"explicitly-none", "explicitly-none"},
}

func TestCanaries(t *testing.T) {
	for _, row := range canaryRules {
		t.Run(row.name, func(t *testing.T) {
			expectFor(t, early, row.pointer, row.early)
			expectFor(t, late, row.pointer, row.late)
		})
	}
}

// brokenCanaries are entries by which nobody knows who was meant. None of them ever gives anybody what it names, nor
// what it may be meant to keep from somebody.
var brokenCanaries = map[string]string{
	"no object":                      `10`,
	"a version alone, as text":       `"202604.01.3"`,
	"a list":                         `[]`,
	"empty":                          `{}`,
	"no percent":                     `{"version": "202604.01.3"}`,
	"a percent of null":              `{"version": "202604.01.3", "percent": null}`,
	"a percent of text":              `{"version": "202604.01.3", "percent": "10"}`,
	"a percent with its sign":        `{"version": "202604.01.3", "percent": "10%"}`,
	"a list for a percent":           `{"version": "202604.01.3", "percent": [10]}`,
	"true for a percent":             `{"version": "202604.01.3", "percent": true}`,
	"more than all":                  `{"version": "202604.01.3", "percent": 100.01}`,
	"far more than all":              `{"version": "202604.01.3", "percent": 1000}`,
	"less than none":                 `{"version": "202604.01.3", "percent": -1}`,
	"minus nothing":                  `{"version": "202604.01.3", "percent": -0}`,
	"finer than nodes are drawn":     `{"version": "202604.01.3", "percent": 0.001}`,
	"an exponent":                    `{"version": "202604.01.3", "percent": 1e1}`,
	"a number no machine holds":      `{"version": "202604.01.3", "percent": 99999999999999999999999999}`,
	"a percent given twice":          `{"version": "202604.01.3", "percent": 1, "percent": 1}`,
	"a percent that isn't one":       `{"version": "202604.01.3", "percent": 1, "Percent": 0}`,
	"a percent that is misspelt":     `{"version": "202604.01.3", "precent": 1}`,
	"artifacts that aren't":          `{"version": "202604.01.3", "percent": 1, "artifact": {}}`,
	"no version":                     `{"percent": 10}`,
	"a version of null":              `{"version": null, "percent": 10}`,
	"a version of nothing":           `{"version": "", "percent": 10}`,
	"a version that is none":         `{"version": "latest", "percent": 10}`,
	"a number for a version":         `{"version": 3, "percent": 10}`,
	"another base's version":         `{"version": "202605.01.3", "percent": 10}`,
	"a version given twice":          `{"version": "202604.01.3", "version": "202604.01.3", "percent": 10}`,
	"a version that is misspelt too": `{"version": "202604.01.3", "Version": "202604.01.4", "percent": 10}`,
}

func TestBrokenCanariesReachNobody(t *testing.T) {
	for name, canary := range brokenCanaries {
		t.Run(name, func(t *testing.T) {
			for _, node := range []hotfix.Node{early, late, {Version: early.Version}} {
				expectFor(t, node, `{"canaries": {"202604.01": `+canary+`}}`, "canary-malformed")
				expectFor(t, node, `{"version": "202604.01.3", "canaries": {"202604.01": `+canary+`}}`, "canary-malformed")
			}
			if warnings := parse(t, `{"canaries": {"202604.01": `+canary+`}}`).Warnings(); len(warnings) == 0 {
				t.Error("nobody is warned")
			}
			// An earlier version is nothing that a later one's canary limits, as long as it is known which that is.
			want := "canary-malformed"
			if strings.HasPrefix(canary, `{"version": "202604.01.3", "p`) || canary == `{"version": "202604.01.3"}` {
				want = "202604.01.2"
			}
			expectFor(t, early, `{"version": "202604.01.2", "canaries": {"202604.01": `+canary+`}}`, want)
		})
	}
	for name, canaries := range map[string]string{
		"a number": `7`, "a list": `[]`, "a text": `""`, "false": `false`,
		"this base given twice": `{"202604.01": {"version": "202604.01.3", "percent": 0}, ` +
			`"202604.01": {"version": "202604.01.3", "percent": 100}}`,
		"this base given twice, once as null": `{"202604.01": null, "202604.01": {"version": "202604.01.3", "percent": 1}}`,
		"the field given twice":               `{}, "canaries": {"202604.01": {"version": "202604.01.3", "percent": 100}}`,
	} {
		t.Run(name, func(t *testing.T) {
			expectFor(t, early, `{"version": "202604.01.3", "canaries": `+canaries+`}`, "canary-malformed")
		})
	}
	for name, pointer := range map[string]string{
		"another case":          `{"version": "202604.01.3", "Canaries": {}}`,
		"one of them":           `{"version": "202604.01.3", "canary": {}}`,
		"the share alone":       `{"version": "202604.01.3", "percent": 10}`,
		"a base that isn't one": `{"version": "202604.01.3", "canaries": {"202604.1": {"version": "202604.01.3", "percent": 0}}}`,
	} {
		t.Run("misspelt: "+name, func(t *testing.T) { expectFor(t, early, pointer, "misspelt-name") })
	}
}

// TestANodeWithoutIDIsInNoCanary: not in one for all, either. What everybody has it keeps.
func TestANodeWithoutIDIsInNoCanary(t *testing.T) {
	for name, id := range map[string]string{
		"none": "", "blanks": " \t\n", "too long": strings.Repeat("a", 254), "other letters": "knoten-ü",
		"a blank inside":      "a b",
		"a control character": "a\x00b", "all zeros": "00000000-0000-0000-0000-000000000000",
		"all ones":                     "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
		"a board that nobody has set":  "03000200-0400-0500-0006-000700080009",
		"a system that was not set up": "uninitialized",
	} {
		t.Run(name, func(t *testing.T) {
			node := hotfix.Node{Version: "202604.01.1", ID: id}
			const canary = `"canaries": {"202604.01": {"version": "202604.01.3", "percent": 100}}`
			expectFor(t, node, `{`+canary+`}`, "no-node-id")
			expectFor(t, node, `{"version": "202604.01.3", `+canary+`}`, "no-node-id")
			expectFor(t, node, `{"version": "202604.01.2", `+canary+`}`, "202604.01.2")
		})
	}
}

// TestANodeThatDoesNotKnowItsVersion is in no canary, and says so: it is not the pointer that names nothing.
func TestANodeThatDoesNotKnowItsVersion(t *testing.T) {
	for _, version := range []string{"", "latest"} {
		for _, pointer := range []string{`{"canaries": {"202604.01": {"version": "202604.01.3", "percent": 100}}}`,
			`{"canaries": {"": {"version": "202604.01.3", "percent": 100}}}`, `{"canaries": 7}`} {
			expectFor(t, hotfix.Node{Version: version, ID: early.ID}, pointer, "current-malformed")
		}
	}
}

// TestDrawsAreForEver: the draws of these nodes are written down, as another implementation of what docs/node-hotfix.md
// says has them. A change of the hash would move every canary there is to other nodes.
func TestDrawsAreForEver(t *testing.T) {
	for id, want := range map[string]int{
		"node-0": 7084, "node-11": 251, "aks-pool-12345678-vmss000000": 906, "aks-pool-12345678-vmss000001": 7827,
		" Node-21\n": 5667,
	} {
		decision := hotfix.DecideFor(hotfix.Node{Version: early.Version, ID: id}, canaryOf(t, "202604.01.3", 50))
		if got := *decision.Canary.Number; got != want {
			t.Errorf("%q draws %d, want %d", id, got, want)
		}
	}
}

const fleet = 100_000

// TestTheShareIsWhatWasAsked: over 100,000 nodes it is as near as chance lets it be, by four standard deviations. The
// IDs are those of real fleets: counted up, and as UUIDs.
func TestTheShareIsWhatWasAsked(t *testing.T) {
	for name, id := range map[string]func(int) string{
		"counted": func(n int) string { return fmt.Sprintf("aks-pool-12345678-vmss%06x", n) },
		"UUIDs":   func(n int) string { return fmt.Sprintf("%08x-0d4c-4d5e-8f00-%012x", n*2654435761&0xffffffff, n) },
	} {
		t.Run(name, func(t *testing.T) {
			numbers := make([]int, fleet)
			for n := range numbers {
				numbers[n] = hotfix.Drawn(id(n), "202604.01.3")
			}
			for _, percent := range []float64{0, 0.01, 0.5, 1, 5, 12.5, 33.33, 50, 75, 99, 99.99, 100} {
				takes := 0
				for _, number := range numbers {
					if float64(number) < percent*100 {
						takes++
					}
				}
				share := percent / 100
				deviation := math.Sqrt(fleet * share * (1 - share))
				if off := math.Abs(float64(takes) - fleet*share); off > 4*deviation {
					t.Errorf("%g percent: %d of %d nodes", percent, takes, fleet)
				}
			}
		})
	}
}

// TestANodeStaysInAGrowingCanary, decided by whole pointers.
func TestANodeStaysInAGrowingCanary(t *testing.T) {
	var pointers []hotfix.Pointer
	for hundredths := 0; hundredths <= 10_000; hundredths += 125 {
		pointers = append(pointers, canaryOf(t, "202604.01.3", float64(hundredths)/100))
	}
	for n := range 2000 {
		taken := false
		for at, pointer := range pointers {
			decision := hotfix.DecideFor(hotfix.Node{Version: "202604.01.1", ID: fmt.Sprintf("node-%d", n)}, pointer)
			if taken && decision.Wanted() == "" {
				t.Fatalf("node %d leaves the canary at step %d", n, at)
			}
			taken = decision.Wanted() != ""
		}
		if !taken {
			t.Fatalf("node %d is not one of all", n)
		}
	}
}

// TestAnotherTargetDrawsAnew: who is in one canary says nothing of the next.
func TestAnotherTargetDrawsAnew(t *testing.T) {
	both, one, other := 0, 0, 0
	for n := range fleet {
		id := fmt.Sprintf("node-%d", n)
		first, second := hotfix.Drawn(id, "202604.01.3") < 1000, hotfix.Drawn(id, "202604.01.4") < 1000
		if first {
			one++
		}
		if second {
			other++
		}
		if first && second {
			both++
		}
	}
	// Ten percent of ten percent, by four standard deviations.
	const share = 0.01
	deviation := math.Sqrt(fleet * share * (1 - share))
	if off := math.Abs(float64(both) - fleet*share); off > 4*deviation {
		t.Errorf("%d of %d nodes are in both canaries (%d, %d)", both, fleet, one, other)
	}
}

// TestTheDocumentOfADraw is what decide prints, and what is read back.
func TestTheDocumentOfADraw(t *testing.T) {
	decision := hotfix.DecideFor(early, canaryOf(t, "202604.01.3", 12.5))
	raw, err := json.Marshal(decision)
	check(t, err)
	const want = `"canary":{"target":"202604.01.3","percent":12.5,"node":"node-11","number":251,"takes":true}`
	if !strings.Contains(string(raw), want) {
		t.Errorf("%s does not have %s", raw, want)
	}
	var again hotfix.Decision
	check(t, json.Unmarshal(raw, &again))
	if *again.Canary.Number != 251 || again.Canary.Percent != 1250 {
		t.Errorf("read back %+v", again.Canary)
	}
}

// TestCanariesUnderASignature: the digests of both are signed, each under its own name.
func TestCanariesUnderASignature(t *testing.T) {
	digest := func(letter string) string { return strings.Repeat(letter, 64) }
	artifact := func(letter string) string {
		return fmt.Sprintf(`{"amd64": {"sha256": %q, "size": 7, "format": "deb"}}`, digest(letter))
	}
	pointer := func(own string) hotfix.Pointer {
		return parse(t, `{"hotfixes": {"202604.01": "202604.01.2"}, "artifacts": {"202604.01": `+artifact("a")+`},
			"canaries": {"202604.01": {"version": "202604.01.3", "percent": 10`+own+`}}}`).By(hotfix.Provenance{Signed: true})
	}
	for name, row := range map[string]struct{ own, early, late, digest string }{
		"its own":           {`, "artifacts": ` + artifact("b"), "202604.01.3", "202604.01.2", digest("b")},
		"those of the base": {``, "202604.01.3", "202604.01.2", digest("a")},
		"none of its own":   {`, "artifacts": {}`, "202604.01.2", "202604.01.2", ""},
		"null":              {`, "artifacts": null`, "202604.01.3", "202604.01.2", digest("a")},
		"one that can't be": {`, "artifacts": {"amd64": {"sha256": "x"}}`, "202604.01.2", "202604.01.2", ""},
		"a misspelt one":    {`, "artifacts": {"AMD64": {}}`, "202604.01.2", "202604.01.2", ""},
	} {
		t.Run(name, func(t *testing.T) {
			signed := pointer(row.own)
			for node, want := range map[hotfix.Node]string{early: row.early, late: row.late} {
				decision := hotfix.DecideSigned(node, signed, "amd64")
				if got := said(decision); got != want {
					t.Errorf("%s: %s, want %s (%v)", node.ID, got, want, decision.Warnings)
				}
			}
			version, err := hotfix.ParseVersion("202604.01.3")
			check(t, err)
			if found, _, _ := signed.ArtifactOf(version, "amd64"); found.SHA256 != row.digest {
				t.Errorf("the artifact is %+v", found)
			}
		})
	}
}

func expectFor(t *testing.T, node hotfix.Node, pointer, want string) {
	t.Helper()
	decision := hotfix.DecideFor(node, parse(t, pointer))
	if got := said(decision); got != want {
		t.Errorf("node %q by %s: %s, want %s", node.ID, pointer, got, want)
	}
}

func said(decision hotfix.Decision) string {
	if decision.Target != nil {
		return *decision.Target
	}
	return string(decision.Reason)
}

func parse(t *testing.T, pointer string) hotfix.Pointer {
	t.Helper()
	parsed, err := hotfix.ParsePointer([]byte(pointer))
	check(t, err)
	return parsed
}

func canaryOf(t *testing.T, version string, percent float64) hotfix.Pointer {
	t.Helper()
	return parse(t, fmt.Sprintf(`{"canaries": {"202604.01": {"version": %q, "percent": %g}}}`, version, percent))
}

// TestReasonsAreAllListed: what is not on the list is refused between salve-node's processes.
func TestReasonsAreAllListed(t *testing.T) {
	source, err := os.ReadFile("decide.go")
	check(t, err)
	declared := regexp.MustCompile(`(?m)^\tReason\w+ +Reason = "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1)
	for _, one := range declared {
		if !slices.Contains(hotfix.Reasons(), hotfix.Reason(one[1])) {
			t.Errorf("%s is not on the list", one[1])
		}
	}
	if len(declared) != len(hotfix.Reasons()) {
		t.Errorf("%d are declared, and %d listed", len(declared), len(hotfix.Reasons()))
	}
}
