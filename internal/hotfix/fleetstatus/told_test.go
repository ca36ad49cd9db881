//go:build unix

package fleetstatus_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/event"
)

func launch(outcome, reason string) event.Event {
	e := begun("launch", outcome)
	e.Reason, e.Target = reason, target
	if reason == "no-hotfix" {
		e.Target = ""
	}
	if outcome == "fell-back" {
		e.Problem = "exit code 3 before it was confirmed"
	}
	return e
}

func fetch(outcome string) event.Event {
	e := begun("fetch", outcome)
	e.Target = target
	if outcome == "postponed" {
		e.Problem = "until 2026-04-03T10:40:00Z, after failing 2 times: unreachable: connection refused"
	}
	return e
}

func scripts(outcome string) event.Event {
	e := begun("fetch", "nothing-to-do")
	e.Scripts = &event.Scripts{Outcome: outcome, Target: target}
	return e
}

func prepare(reason hotfix.Reason) event.Event {
	e := begun("prepare", "chosen")
	e.Decision = &hotfix.Decision{SchemaVersion: 1, Current: "202604.01.0", Reason: reason}
	if reason == hotfix.ReasonNotInCanary || reason == hotfix.ReasonNoNodeID {
		e.Decision.Canary = drawn(reason)
	}
	return e
}

// missed is a node that takes what is for all beside a canary.
func missed(why hotfix.Reason) event.Event {
	e := prepare(hotfix.ReasonInstall)
	e.Decision.Canary = drawn(why)
	return e
}

func drawn(why hotfix.Reason) *hotfix.Draw {
	draw := &hotfix.Draw{Target: target, Percent: 100}
	if why != hotfix.ReasonNoNodeID {
		draw.Number = new(int)
	}
	if why == hotfix.ReasonNotUnderSignature {
		draw.Refused = why
	}
	return draw
}

func begun(command, outcome string) event.Event {
	return event.Event{SchemaVersion: 1, Time: now.Add(-time.Hour), Command: command, Outcome: outcome,
		Level: event.Information}
}

// earlier is about the version before.
func earlier(e event.Event) event.Event {
	e.Target = "202604.01.1"
	return e
}

// write puts a node's events into a folder, one a minute.
func write(t *testing.T, folder string, events ...event.Event) {
	t.Helper()
	check(t, os.MkdirAll(folder, 0o755))
	for i, one := range events {
		one.Time = one.Time.Add(time.Duration(i) * time.Minute)
		raw, err := json.Marshal(one)
		check(t, err)
		check(t, os.WriteFile(filepath.Join(folder, nameAt(one.Time, one.Command)), raw, 0o644))
	}
}

func nameAt(at time.Time, command string) string {
	return at.UTC().Format("20060102T150405.000000000Z") + "-" + command + "-77-345.json"
}

func file(name, content string) func(string) error {
	return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600) }
}
