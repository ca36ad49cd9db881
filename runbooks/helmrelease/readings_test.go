package helmrelease_test

import (
	"testing"

	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/helmrelease"
)

func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	t.Parallel()
	book, err := helmrelease.Replayed(
		helmrelease.Inputs{Cluster: "c", ClusterName: "c", Namespace: "n", Release: "r"}, runbook.Target{})
	if err != nil {
		t.Fatal(err)
	}
	standing := func(found, status, pending, by, same string) string {
		return `{"found":` + found + `,"revision":3,"status":"` + status + `","pending":` + pending +
			`,"began":"2026-11-24T11:00:00Z","startedBy":"` + by + `","sameContent":` + same +
			`,"says":"s","tried":false,"run":"r1","seen":"2026-11-24T12:00:00Z"}`
	}
	deployed := func(release, notReady string) string {
		return `{"release":` + release + `,"objects":3,"notReady":[` + notReady + `]}`
	}
	none, ours := standing("false", "", "false", "", "false"), standing("true", "deployed", "false", "r1", "true")
	foreign := standing("true", "pending-upgrade", "true", "r2", "false")
	runbooktest.SweepGuards(t, runbooktest.Rows{
		"cluster-reachable": {
			Readings: []string{`{"cluster":"c","seen":"2026-11-24T12:00:00Z"}`}, Evidence: []string{"seen"},
		},
		"chart-unmoved": {
			Readings: []string{
				`{"reference":"oci://a/b:1","digest":"d1","began":"","now":"d1","seen":"2026-11-24T12:00:00Z"}`,
				`{"reference":"oci://a/b:1","digest":"d1","began":"d1","now":"d2","seen":"2026-11-24T12:00:00Z"}`,
				`{"reference":"oci://a/b:1","digest":"d1","began":"d2","now":"d1","seen":"2026-11-24T12:00:00Z"}`,
				`{"reference":"","digest":"","began":"","now":"","seen":"2026-11-24T12:00:00Z"}`,
			},
			Evidence: []string{"seen"},
		},
		"chart-renders": {
			Readings: []string{`{"objects":3,"problem":""}`, `{"objects":0,"problem":"p"}`}, Said: []string{"objects"},
		},
		"nothing-pending": {
			Readings: []string{none, ours, foreign, standing("true", "pending-install", "true", "r1", "false")},
			Said:     []string{"revision", "status", "began"},
			Evidence: []string{"says", "seen"},
			Unused:   map[string]string{"sameContent": "for the step and the check", "tried": "for the step"},
		},
		"release-deployed": {
			Readings: []string{
				deployed(none, ""), deployed(ours, ""), deployed(ours, `"x"`), deployed(foreign, ""),
				deployed(standing("true", "failed", "false", "r1", "true"), ""),
				deployed(standing("true", "deployed", "false", "r1", "false"), ""),
			},
			Said:     []string{"release.revision", "objects", "notReady[]"},
			Evidence: []string{"release.says", "release.seen"},
			Unused: map[string]string{
				"release.pending": "for the guard", "release.began": "for the guard", "release.tried": "for the step",
			},
		},
	}, book)
}
