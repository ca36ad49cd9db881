package catalogue_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/catalogue"
	"salve/internal/triage/results"
)

func TestLint(t *testing.T) {
	const kinds = "kinds: [{kind: console, files: c}, {kind: serial, files: s}]\nsignatures:\n"
	for _, test := range []struct {
		rule, signatures string
		want             []string // without the place of the file
	}{
		{"nothing is wrong", `
- {id: a, class: test, all: [connection refused], examples: {match: ["connection refused"], noMatch: ["connection"]}}
- {id: b, class: product, all: [no memory], kind: console}`, nil},
		{"an example that must match", `
- {id: a, class: test, all: [connection refused], examples: {match: ["connection reset"]}}`,
			[]string{`3: signature "a" does not match its example "connection reset" [catalogue-example]`}},
		{"an example that must not match", `
- {id: a, class: test, all: [connection refused], examples: {noMatch: ["connection refused"]}}`,
			[]string{`3: signature "a" matches "connection refused", which it must not [catalogue-example]`}},
		{"examples are of the text alone", `
- {id: a, class: test, all: [refused], kind: console, place: x.go, where: {k: v}, examples: {match: [refused]}}`, nil},
		{"expired", `
- {id: a, class: test, all: [refused], validUntil: 2026-11-23}`,
			[]string{`3: warning: signature "a" expired after 2026-11-23 and no longer decides [catalogue-expired]`}},
		{"its last day", `
- {id: a, class: test, all: [refused], validUntil: 2026-11-24}`, nil},
		{"an expression that begins with any text", `
- {id: a, class: test, all: refused, matches: '(.*x|y)'}`,
			[]string{`3: warning: signature "a": expression "(.*x|y)" begins with any text: leave that out, it matches anywhere in a line [catalogue-expensive]`}},
		{"huge repetitions", `
- {id: a, class: test, line: {all: refused, matches: '[a-z]{1,900}x'}}`,
			[]string{`3: warning: signature "a": expression "[a-z]{1,900}x" is 1802 instructions long: repeat less [catalogue-expensive]`}},
		{"literals that most lines have", `
- {id: a, class: test, any: [connection refused, "no"]}
- {id: b, class: test, all: [exit status, "1"]}
- {id: c, class: test, line: {all: [" 1"]}}`,
			[]string{`3: warning: signature "a" searches for "no": texts of fewer than 4 bytes are on too many lines [catalogue-expensive]`,
				`5: warning: signature "c" searches for " 1": texts of fewer than 4 bytes are on too many lines [catalogue-expensive]`}},
		{"an expression of an attribute, and the order of what is told", `
- {id: a, class: test, all: refused by}
- {id: b, class: test, all: refused, validUntil: 2026-01-01}
attributes: [{name: x, from: name, pattern: '^.*(?P<value>x)'}, {name: y, from: name, pattern: '.+(?P<value>y)'}]`,
			[]string{`3: warning: signature "a": wherever it is found, "b" (c.yaml:4:3) is found too [catalogue-overlap]`,
				`4: warning: signature "b" expired after 2026-01-01 and no longer decides [catalogue-expired]`,
				`5: warning: attribute "y": expression ".+(?P<value>y)" begins with any text: leave that out, it matches anywhere in a line [catalogue-expensive]`}},
		{"none of what is asked for", `
- {id: a, class: test, all: [connection refused], none: [refused]}`,
			[]string{`3: warning: signature "a" can't be found: it asks for "connection refused" and for none of "refused" [catalogue-unreachable]`}},
		{"none of what an alternative asks for", `
- {id: a, class: test, none: [timed out], anyOf: [{all: refused}, {all: dial timed out}]}`,
			[]string{`3: warning: signature "a" can't be found: it asks for "dial timed out" and for none of "timed out" [catalogue-unreachable]`}},
		{"none of all that any allows", `
- {id: a, class: test, any: [timed out, time out], none: [time]}
- {id: b, class: test, any: [timed out, deadline], none: [time]}`,
			[]string{`3: warning: signature "a" can't be found: each of any has "time", of which it asks for none [catalogue-unreachable]`}},
		{"none on the line of what is elsewhere", `
- {id: a, class: test, all: [timed out], line: {all: refused, none: timed}}`, nil},
		{"none on the line of what is on it", `
- {id: a, class: test, line: {all: refused by, none: refused}}`,
			[]string{`3: warning: signature "a" can't be found: it asks for "refused by" and for none of "refused" [catalogue-unreachable]`}},
		{"two values of one attribute", `
- {id: a, class: test, all: refused, where: {cluster: a}, anyOf: [{where: {cluster: b}}, {where: {cluster: "*"}}]}`,
			[]string{`3: warning: signature "a" can't be found: two values of "cluster" are asked for at once [catalogue-unreachable]`}},
		{"two wildcards that may meet", `
- {id: a, class: test, all: refused, where: {job: gate-*}, anyOf: [{where: {job: "*-ceph"}}]}`, nil},
		{"a value and not the value", `
- {id: a, class: test, all: refused, where: {cluster: west-1}, unless: {cluster: west-*}}`,
			[]string{`3: warning: signature "a" can't be found: it asks for values of "cluster", and for none of them [catalogue-unreachable]`}},
		{"one is always found with the other", `
- {id: a, class: test, all: [connection refused by peer]}
- {id: b, class: test, any: [connection refused, no route]}`,
			[]string{`3: warning: signature "a": wherever it is found, "b" (c.yaml:4:3) is found too [catalogue-overlap]`}},
		{"equal ones are told once", `
- {id: a, class: test, line: {all: [refused by, peer]}}
- {id: b, class: test, line: {all: [peer, refused by]}}`,
			[]string{`3: warning: signature "a": wherever it is found, "b" (c.yaml:4:3) is found too [catalogue-overlap]`}},
		{"a kind, an attribute or a none tells them apart", `
- {id: a, class: test, all: refused, kind: console}
- {id: b, class: test, all: refused, kind: serial}
- {id: c, class: test, all: refused, where: {cluster: a}}
- {id: d, class: test, all: refused, none: retried}`, nil},
		{"an example of one is one of the other", `
- {id: a, class: test, all: [refused], examples: {match: [denied and refused]}}
- {id: b, class: test, all: [denied]}`,
			[]string{`3: warning: signature "a": its example "denied and refused" matches "b" (c.yaml:4:3) too [catalogue-overlap]`}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			c := parse(t, kinds+strings.TrimPrefix(test.signatures, "\n")+"\n")
			var got []string
			for _, d := range catalogue.Lint(c, catalogue.LintOptions{Now: today}) {
				got = append(got, strings.Replace(strings.TrimPrefix(d.String(), "c.yaml:"), ":3: ", ": ", 1))
			}
			for i := range got { // the column of an alternative tells no more
				line, rest, _ := strings.Cut(got[i], ":")
				got[i] = line + ":" + strings.TrimLeft(rest, "0123456789:")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestLintOfARun: scenarios with and without scriptless bootstrap, of which some pass.
func TestLintOfARun(t *testing.T) {
	c := parse(t, `kinds: [{kind: console, files: console, producer: serial}]
signatures:
- {id: scriptless-timeout, class: infrastructure, all: timed out}
- {id: arm64-crash, class: product, all: illegal instruction}
- {id: common-line, class: test, all: starting}
- {id: amd64-forgotten, class: test, all: no such thing}
`)
	var stats catalogue.Statistics
	for i := range 320 {
		text, mode, arch := "starting\n", "default", "amd64"
		if i < 40 {
			text = "ok\n"
		}
		if i%2 == 0 {
			mode = "scriptless"
		}
		if i%4 == 1 {
			arch = "arm64"
		}
		failed := i%3 == 0
		if failed {
			text += "timed out\n"
		}
		if arch == "arm64" && i%8 == 1 {
			failed = true
			text += "illegal instruction\n"
		}
		attributes := []results.Attribute{{Name: "arch", Value: arch}, {Name: "bootstrap", Value: mode}}
		found := []catalogue.Found{find(t, c, "a", text), find(t, c, "console", text)} // two hits, and one scenario
		stats.Add(failed, attributes, c.Signatures(found, attributes, "", today))
	}
	var got []string
	for _, d := range catalogue.Lint(c, catalogue.LintOptions{Now: today, Statistics: &stats}) {
		got = append(got, d.String())
	}
	want := []string{
		`c.yaml:3:3: warning: signature "scriptless-timeout" is called "scriptless", but is on 54 of 160 scenarios with bootstrap=scriptless and on 53 of 160 others [catalogue-name]`,
		`c.yaml:5:3: warning: signature "common-line" is on 163 of 186 passing scenarios (88 %): it isn't specific [catalogue-unspecific]`,
		`c.yaml:6:3: note: signature "amd64-forgotten" is on none of 320 scenarios [catalogue-never-matched]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if found := catalogue.Lint(c, catalogue.LintOptions{Now: today, Statistics: &catalogue.Statistics{}}); len(found) > 0 {
		t.Errorf("statistics of nothing: %v", found)
	}
	most := catalogue.LintOptions{Now: today, Statistics: &stats, PassingShare: 0.9}
	if found := catalogue.Lint(c, most); len(found) != 2 {
		t.Errorf("another share: %v", found)
	}
}

// TestSignaturesOnTheSameScenariosOverlap, whatever their conditions are: each failure would have two owners.
func TestSignaturesOnTheSameScenariosOverlap(t *testing.T) {
	c := parse(t, `signatures:
- {id: b-denied, class: infrastructure, all: denied by the approver}
- {id: a-late, class: product, all: node is late}
- {id: implied, class: test, all: denied by}
- {id: thrice, class: test, all: on thrice}
`)
	rows := func(count, late int) *catalogue.Statistics {
		stats := &catalogue.Statistics{}
		for i := range count {
			text := "denied by the approver\n"
			if i < late {
				text += "node is late\n"
			}
			if i < 2 {
				text += "on thrice\n"
			}
			stats.Add(true, nil, c.Signatures([]catalogue.Found{find(t, c, "a", text)}, nil, "", today))
		}
		for range 20 {
			stats.Add(true, nil, c.Signatures([]catalogue.Found{find(t, c, "a", "node is late\n")}, nil, "", today))
		}
		return stats
	}
	const implied = `c.yaml:2:3: warning: signature "b-denied": wherever it is found, "implied" (c.yaml:4:3) is found too [catalogue-overlap]`
	for name, row := range map[string]struct {
		stats *catalogue.Statistics
		want  []string
	}{
		"nine of ten": {rows(107, 97), []string{
			`c.yaml:2:3: warning: signature "b-denied": on 97 of 107 scenarios with it, "a-late" (c.yaml:3:3) is found too [catalogue-overlap]`, implied}},
		"fewer":     {rows(107, 96), []string{implied}},
		"no result": {nil, []string{implied}},
	} {
		var got []string
		for _, d := range catalogue.Lint(c, catalogue.LintOptions{Now: today, Statistics: row.stats}) {
			if !strings.Contains(d.String(), `"implied": on`) {
				got = append(got, d.String())
			}
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestLintIsRightAboutWhatItIsSureOf: random signatures over random texts. What implies another one is found with it,
// and what can't be found isn't.
func TestLintIsRightAboutWhatItIsSureOf(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 6))
	words := []string{"aaaa", "bbbb", "aaaa bbbb", "cccc", "bbbb cccc", "dddd"}
	pick := func() string {
		list := make([]string, chance.IntN(3))
		for i := range list {
			list[i] = fmt.Sprintf("%q", words[chance.IntN(len(words))])
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	condition := func() string {
		text := fmt.Sprintf("all: %s, any: %s, none: %s", pick(), pick(), pick())
		if chance.IntN(2) == 0 {
			text += fmt.Sprintf(", line: {all: [%q], any: %s, none: %s}", words[chance.IntN(len(words))], pick(), pick())
		}
		return text
	}
	overlaps, unreachable := 0, 0
	for range 150 {
		text := "signatures:\n"
		for i := range 5 {
			text += fmt.Sprintf("- {id: s%d, class: test, place: p, %s", i, condition())
			if chance.IntN(2) == 0 {
				text += fmt.Sprintf(", anyOf: [{%s}, {%s}]", condition(), condition())
			}
			text += "}\n"
		}
		c := parse(t, text)
		implied, never := map[string]string{}, map[string]bool{}
		for _, d := range catalogue.Lint(c, catalogue.LintOptions{Now: today}) {
			var id, other string
			switch d.Rule {
			case catalogue.RuleOverlap:
				if _, err := fmt.Sscanf(d.Message, "signature %q: wherever it is found, %q", &id, &other); err != nil {
					t.Fatal(d, err)
				}
				implied[id+" "+other] = d.Message
				overlaps++
			case catalogue.RuleUnreachable:
				if _, err := fmt.Sscanf(d.Message, "signature %q", &id); err != nil {
					t.Fatal(d, err)
				}
				never[id] = never[id] || len(c.Signature(id).AnyOf) == 0
				unreachable++
			}
		}
		for range 60 {
			var log strings.Builder
			for range 1 + chance.IntN(6) {
				log.WriteString(words[chance.IntN(len(words))] + []string{" ", "\n"}[chance.IntN(2)])
			}
			found := map[string]bool{}
			for _, h := range c.Signatures([]catalogue.Found{find(t, c, "a", log.String())}, nil, "p", today) {
				found[h.Signature.ID] = true
				if never[h.Signature.ID] {
					t.Fatalf("%s is found in %q:\n%s", h.Signature.ID, log.String(), text)
				}
			}
			for pair, message := range implied {
				id, other, _ := strings.Cut(pair, " ")
				if found[id] && !found[other] {
					t.Fatalf("%s, but not in %q:\n%s", message, log.String(), text)
				}
			}
		}
	}
	if overlaps < 40 || unreachable < 40 {
		t.Errorf("%d overlaps, %d unreachable", overlaps, unreachable)
	}
}
