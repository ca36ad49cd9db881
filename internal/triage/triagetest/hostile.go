package triagetest

import (
	"fmt"
	"strings"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/statistics"
)

// Harm is what somebody might write into a log to be shown: markup, mentions, references, orders to a terminal, and
// credentials. None of the tokens is one.
func Harm() []string {
	return []string{
		"--> <b>bold</b>", "<script>alert(1)</script>", "</details>", "\n</details>\n", "<!-- x",
		"<img src=x onerror=alert(1)>", "```", "````\n", "~~~~~", "\n```\n@everyone\n", "@admins",
		"@org/team", "(@octocat)", "#123", "GH-77", "gh-8", "octo/repo#9",
		"https://github.com/octo/repo/issues/1", "www.example.org", "mail@example.org",
		"[link](https://x.example)", "![img](https://x.example/p.png)", "[ref]: https://x.example",
		"| a | b |", "\n|---|---|\n", "**bold**", "__b__", "~~s~~", "\n# heading", "\n- item",
		"\n1. item", "\n> quote", "\n---\n", "\n===\n", "    code", "\tcode", "$x^2$", "$$y$$",
		":tada:", ":+1:", "[^1]", "> [!WARNING]", "&lt;b&gt;", "&#64;root", "\\", "\\`", "`", "``",
		"$`z`$", "a`b", "{{.}}", "';alert(1)//", "\u202e", "\u2066", "\u200b", "\x1b[31mred\x1b[0m",
		"\x1b]0;title\x07", "\x00", "\r", "\xff\xfe", "\u2028", "ghp_" + strings.Repeat("a1B2", 9),
		"password=hunter2secret", "Authorization: Bearer " + strings.Repeat("t0ken", 4),
		"https://user:s3cr3tpass@host.example/", "xmpp:a@b.example", "mailto:a@b.example",
		"ftp://x.example", "http://x", "1) one", "+ plus", "= equal", "<https://x.example>",
		"<details open>", "<summary>", "]]>", "<?php", "<![CDATA[", "</code></pre>",
	}
}

// Secrets are the parts of Harm that nobody may read.
func Secrets() []string {
	return []string{"ghp_a1B2a1B2", "hunter2secret", "t0kent0ken", "s3cr3tpass"}
}

// Hostile is a document whose every text wants to do harm.
func Hostile() triage.Document {
	harm := Harm()
	at := 0
	return Filled(func() string {
		at += 3
		return harm[(at-3)%len(harm)] + " " + harm[(at-2)%len(harm)] + harm[(at-1)%len(harm)]
	}, 2)
}

// Filled is a document with a text wherever one of others can stand, and some groups that have everything.
func Filled(text func() string, groups int) triage.Document {
	share := 0.5
	doc := triage.Document{
		Format: triage.Format, Build: text(), Digest: text(), Created: start(), Verdict: triage.New, Mixed: true,
		Confidence: triage.Low, Summary: text(),
		Counts:   triage.Counts{Scenarios: 40, Tests: 20, Passed: 20, Failed: 18, Skipped: 2, Flaky: 1},
		Aborted:  &triage.Aborted{Reason: text(), Text: text(), Expected: 50, Found: 40},
		Change:   &triage.Change{Files: 3, Components: []string{text()}, Unmapped: []string{text()}, Mapped: true},
		Omitted:  2,
		Problems: []string{text(), text()}, Notes: []string{text()},
		Thresholds: []triage.Threshold{{Name: text(), Value: text(), Meaning: text()}},
	}
	table := statistics.Table{FailedWith: 8, PassedWith: 2, FailedWithout: 1, PassedWithout: 18}
	for i := range groups {
		candidate := Candidate(text(), text(), table, text())
		explained := Candidate(text(), text(), table)
		explained.ExplainedBy = text()
		doc.Groups = append(doc.Groups, triage.Group{
			Key: text(), Message: text(), Frame: text(), Place: text(), Failures: 9, Tests: 7,
			Scenarios: []string{text(), text()},
			Example:   triage.Excerpt{Scenario: text(), Text: text(), File: text(), Line: 3},
			Verdict:   triage.New, Confidence: triage.Low, Reasons: []string{text()}, Flakiness: triage.Flaky,
			Signatures: []triage.Signature{{
				ID: text(), Title: text(), Class: text(), Owner: text(), Links: []string{text()}, Action: text(),
				ValidUntil: text(), Expired: true, Failures: 3, Passing: 1,
			}},
			Cause: triage.Cause{
				State: "found", Text: text(), Candidates: []triage.Candidate{candidate},
				Explained: []triage.Candidate{explained}, Unexplained: 1, Unjudged: []string{text()},
			},
			Alternative: triage.Alternative{
				State: "open", Text: text(), MaxShare: &share,
				Checks: []triage.ChangeCheck{{Name: "dose", Stance: triage.Open, Text: text(), Table: reached(table)}},
			},
			Baseline: triage.BaselineSays{Answer: triage.NotEnoughHistory, Text: text()},
			Evidence: []triage.Evidence{
				{Producer: text(), Text: text(), File: text(), Line: i + 1}, {Producer: text(), Text: text()},
			},
			WouldChange: []string{text(), text()}, Action: text(),
			Occurrences: &triage.Occurrences{
				Of: text(), Count: 2, Threshold: 6, Days: 30, First: start(), Escalated: true, Owner: text(),
			},
		})
	}
	for i := range 4 {
		row := triage.Heat{Attribute: text(), Value: text(), Passed: 5 * i}
		moment := triage.Moment{Time: start().Add(time.Duration(i) * time.Minute), Seconds: 60, Passed: 5}
		for range groups {
			row.ByGroup, moment.ByGroup = append(row.ByGroup, i), append(moment.ByGroup, i)
			row.Failed, moment.Failed = row.Failed+i, moment.Failed+i
		}
		doc.Heat, doc.Timeline = append(doc.Heat, row), append(doc.Timeline, moment)
	}
	return doc
}

// Large is a document of ordinary texts with many groups, and a heat table of many values.
func Large(groups, values int) triage.Document {
	doc := Filled(func() string { return "connection reset by peer" }, groups)
	doc.Heat = nil
	for i := range values {
		row := triage.Heat{Attribute: "cluster", Value: fmt.Sprintf("aks-%02d", i), Passed: 20 + i}
		for g := range groups {
			count := max(0, (i*7+g*13)%29-20)
			row.ByGroup, row.Failed = append(row.ByGroup, count), row.Failed+count
		}
		doc.Heat = append(doc.Heat, row)
	}
	return doc
}
