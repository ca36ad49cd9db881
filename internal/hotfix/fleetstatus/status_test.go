//go:build unix

package fleetstatus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix/event"
	"salve/internal/hotfix/fleetstatus"
)

var now = time.Date(2026, 4, 3, 10, 40, 0, 0, time.UTC)

const target = "202604.01.2"

// boots are what nodes write in a boot: what each is about, the state that the node is in, and what stops the rollout.
var boots = map[string]struct {
	events   []event.Event
	state    fleetstatus.State
	problems []string
}{
	"it runs": {[]event.Event{fetch("staged"), prepare("install"), launch("ran", "staged")},
		fleetstatus.Staged, nil},
	"it runs, and was there already": {[]event.Event{fetch("already-staged"), launch("ran", "staged")},
		fleetstatus.Staged, nil},
	"it failed": {[]event.Event{fetch("staged"), prepare("install"), launch("fell-back", "staged")}, fleetstatus.FellBack,
		[]string{"fell-back"}},
	"it failed before": {[]event.Event{fetch("already-staged"), launch("ran", "trials-used")}, fleetstatus.TrialsUsed,
		[]string{"trials-used"}},
	"it died after it was confirmed": {[]event.Event{launch("ran", "marked-bad")}, fleetstatus.MarkedBad,
		[]string{"marked-bad"}},
	"it is fetched again, and was bad": {[]event.Event{fetch("marked-bad"), launch("ran", "not-staged")},
		fleetstatus.Baked,
		[]string{"marked-bad"}},
	"it can't be had": {[]event.Event{fetch("unreachable"), launch("ran", "not-staged")}, fleetstatus.Baked, nil},
	"it could not be had": {[]event.Event{fetch("postponed"), launch("ran", "not-staged")}, fleetstatus.Postponed,
		[]string{"postponed"}},
	"it is no good": {[]event.Event{fetch("unfit"), launch("ran", "not-staged")}, fleetstatus.Unfit,
		[]string{"unfit"}},
	"the prepare process died": {[]event.Event{launch("ran", "unprepared")}, fleetstatus.Baked, []string{"unprepared"}},
	"the disk is full":         {[]event.Event{launch("ran", "not-counted")}, fleetstatus.Baked, []string{"not-counted"}},
	"somebody stopped it":      {[]event.Event{launch("stopped", "staged")}, fleetstatus.Stopped, nil},
	"nothing can be run":       {[]event.Event{launch("failed", "no-hotfix")}, fleetstatus.Failed, []string{"failed"}},
	"none is named": {[]event.Event{prepare("base-not-listed"), launch("ran", "no-hotfix")},
		fleetstatus.Baked, nil},
	"it is none of the canary's": {[]event.Event{prepare("not-in-canary"), launch("ran", "no-hotfix")},
		fleetstatus.NotInCanary,
		nil},
	"nobody knows whether it is one": {[]event.Event{prepare("no-node-id"), launch("ran", "no-hotfix")}, fleetstatus.Baked,
		[]string{"no-node-id"}},
	"it is one, and nobody signed what the canary runs": {[]event.Event{missed("not-under-signature"),
		earlier(launch("ran", "staged"))}, fleetstatus.NotInCanary, []string{"not-under-signature"}},
	"it may be one, and runs what is for all": {[]event.Event{missed("no-node-id"),
		earlier(launch("ran", "staged"))}, fleetstatus.NotInCanary, []string{"no-node-id"}},
	"it is none, and runs what is for all": {[]event.Event{missed(""), earlier(launch("ran", "staged"))},
		fleetstatus.Staged, nil},
	"nobody signed the pointer": {[]event.Event{prepare("untrusted"), launch("ran", "no-hotfix")}, fleetstatus.Baked,
		[]string{"untrusted"}},
	"the pointer is torn": {[]event.Event{prepare("malformed-pointer"), launch("ran", "no-hotfix")}, fleetstatus.Baked,
		[]string{"malformed-pointer"}},
	"a name is misspelt": {[]event.Event{prepare("misspelt-name"), launch("ran", "no-hotfix")}, fleetstatus.Baked,
		[]string{"misspelt-name"}},
	"the scripts are bad": {[]event.Event{scripts("bad-payload"), launch("ran", "no-hotfix")}, fleetstatus.Baked,
		[]string{"scripts-bad-payload"}},
	"it failed, and by hand it is no good": {[]event.Event{launch("fell-back", "staged"), fetch("unfit")},
		fleetstatus.FellBack,
		[]string{"fell-back", "unfit"}},
	"it failed once, and runs": {[]event.Event{launch("fell-back", "staged"), launch("ran", "staged")}, fleetstatus.Staged,
		[]string{"fell-back"}},
	"an earlier one failed": {[]event.Event{earlier(launch("fell-back", "staged")), launch("ran", "staged")},
		fleetstatus.Staged, nil},
}

func TestWhatABootCameTo(t *testing.T) {
	for name, row := range boots {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "node", "events"), row.events...)
			status := read(t, fleetstatus.Asked{}, dir)
			if status.Nodes != 1 || len(status.Groups) != 1 || status.Groups[0].States[row.state] != 1 {
				t.Errorf("%+v, want %s", status.Groups, row.state)
			}
			var problems []string
			for _, one := range status.Problems {
				problems = append(problems, one.Problem)
			}
			if slices.Sort(problems); !slices.Equal(problems, row.problems) {
				t.Errorf("problems %v, want %v", problems, row.problems)
			}
		})
	}
}

// TestEveryNodeIsCountedOnce, in one state and one group, however its events lie.
func TestEveryNodeIsCountedOnce(t *testing.T) {
	dir := t.TempDir()
	names := slices.Sorted(maps.Keys(boots))
	for i, name := range names {
		events := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		if i%2 == 0 {
			events = filepath.Join(events, "events") // a state folder
		}
		write(t, events, boots[name].events...)
	}
	status := read(t, fleetstatus.Asked{}, dir)
	counted := 0
	for _, group := range status.Groups {
		states := 0
		for _, nodes := range group.States {
			states += nodes
		}
		if states != group.Nodes {
			t.Errorf("%+v", group)
		}
		counted += group.Nodes
	}
	if counted != len(names) || status.Nodes != len(names) || len(status.Unseen) > 0 {
		t.Errorf("%d of %d nodes are counted, %v unseen", counted, len(names), status.Unseen)
	}
	for _, alone := range []string{"it-failed", "it-failed/events"} {
		folder := filepath.Join(dir, alone)
		if _, err := os.Stat(folder); err == nil {
			if one := read(t, fleetstatus.Asked{}, folder); one.Nodes != 1 || one.Problems[0].Node != "it-failed" {
				t.Errorf("%s alone: %+v", alone, one)
			}
		}
	}
}

// TestWhatIsAskedFor leaves out other targets and other times, and says of whom nothing is left.
func TestWhatIsAskedFor(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), earlier(launch("fell-back", "staged")), launch("ran", "staged"))
	write(t, filepath.Join(dir, "b"), earlier(launch("ran", "staged")))
	check(t, os.Mkdir(filepath.Join(dir, "c"), 0o755))
	for name, row := range map[string]struct {
		asked            fleetstatus.Asked
		groups, problems int
		unseen           []string
	}{
		"all":                    {fleetstatus.Asked{}, 2, 0, []string{"c"}},
		"the first target":       {fleetstatus.Asked{Target: "202604.01.1"}, 1, 1, []string{"c"}},
		"the second target":      {fleetstatus.Asked{Target: target}, 1, 0, []string{"b", "c"}},
		"nothing that old":       {fleetstatus.Asked{Since: now}, 0, 0, []string{"a", "b", "c"}},
		"since before all of it": {fleetstatus.Asked{Since: now.Add(-24 * time.Hour)}, 2, 0, []string{"c"}},
	} {
		t.Run(name, func(t *testing.T) {
			status := read(t, row.asked, dir)
			if len(status.Groups) != row.groups || len(status.Problems) != row.problems || !slices.Equal(status.Unseen,
				row.unseen) {
				t.Errorf("%+v", status)
			}
		})
	}
}

// TestWhatIsNoEventIsCountedAndNamed: nodes are not to be believed, and collecting them is cut off now and then. The
// rest counts as if the bad files were not there.
func TestWhatIsNoEventIsCountedAndNamed(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	whole, err := json.Marshal(launch("ran", "staged"))
	check(t, err)
	check(t, os.WriteFile(secret, whole, 0o600))
	name := nameAt(now, "launch")
	for what, row := range map[string]struct {
		make                  func(path string) error
		torn, foreign, unread int
	}{
		"cut":               {file(name, string(whole[:40])), 1, 0, 0},
		"empty":             {file(name, ""), 1, 0, 0},
		"zeros":             {file(name, strings.Repeat("\x00", 400)), 1, 0, 0},
		"half-written":      {file(name+".part", string(whole)), 1, 0, 0},
		"another program's": {file("pods.json", "{}"), 0, 1, 0},
		"no object":         {file(name, "[]"), 0, 1, 0},
		"another schema": {file(name,
			`{"schemaVersion": 2, "command": "launch", "time": "2026-04-03T10:40:00Z"}`), 0, 1, 0},
		"another command": {file(name,
			`{"schemaVersion": 1, "command": "rm", "time": "2026-04-03T10:40:00Z"}`), 0, 1, 0},
		"no time":      {file(name, `{"schemaVersion": 1, "command": "launch"}`), 0, 1, 0},
		"another type": {file(name, `{"schemaVersion": 1, "command": ["launch"]}`), 0, 1, 0},
		"too large":    {file(name, `{"schemaVersion": 1`+strings.Repeat(" ", event.Largest)+"}"), 0, 1, 0},
		"a folder": {func(dir string) error {
			return os.Mkdir(filepath.Join(dir, name), 0o755)
		}, 0, 1, 0},
		"a pipe": {func(dir string) error {
			return syscall.Mkfifo(filepath.Join(dir, name), 0o644)
		}, 0, 1, 0},
		"a link to an event elsewhere": {func(dir string) error {
			return os.Symlink(secret, filepath.Join(dir, name))
		}, 0, 1, 0},
		"an event of a name that climbs": {file("..json", string(whole)), 0, 1, 0},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "node"), launch("fell-back", "staged"))
			check(t, row.make(filepath.Join(dir, "node")))
			status := read(t, fleetstatus.Asked{}, dir)
			files := status.Files
			if files.Torn != row.torn || files.Foreign != row.foreign || files.Unread != row.unread || len(files.Named) != 1 ||
				files.Named[0].Problem == "" || !strings.HasPrefix(files.Named[0].Path, filepath.Join(dir, "node")+"/") {
				t.Errorf("%+v", files)
			}
			if files.Events != 1 || len(status.Problems) != 1 {
				t.Errorf("the rest does not count: %+v", status)
			}
		})
	}
}

// TestANodeThatCantBeReadIsUnseen: it is counted as a node, so that nobody takes the others for all there are.
func TestANodeThatCantBeReadIsUnseen(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), launch("ran", "staged"))
	check(t, os.Mkdir(filepath.Join(dir, "b"), 0))
	if os.Geteuid() == 0 { // who may read everything
		check(t, os.Chmod(filepath.Dir(dir), 0o755))
		check(t, syscall.Seteuid(65534))
		t.Cleanup(func() { check(t, syscall.Seteuid(0)) })
	}
	status := read(t, fleetstatus.Asked{}, dir)
	if status.Nodes != 2 || !slices.Equal(status.Unseen, []string{"b"}) || status.Files.Unread != 1 {
		t.Errorf("%+v", status)
	}
}

// TestFoldersAreNotLeft: a node's folder that leads elsewhere is none.
func TestFoldersAreNotLeft(t *testing.T) {
	elsewhere := t.TempDir()
	write(t, filepath.Join(elsewhere, "events"), launch("ran", "staged"))
	dir := t.TempDir()
	check(t, os.Symlink(elsewhere, filepath.Join(dir, "linked")))
	check(t, os.Mkdir(filepath.Join(dir, "node"), 0o755))
	check(t, os.Symlink(filepath.Join(elsewhere, "events"), filepath.Join(dir, "node", "events")))
	status := read(t, fleetstatus.Asked{}, dir)
	if status.Files.Events != 0 || status.Files.Foreign != 2 || !slices.Equal(status.Unseen, []string{"node"}) {
		t.Errorf("%+v", status)
	}
}

// TestAWrongClockIsNotTheLastWord: what was written in 2106 is older than what was written today.
func TestAWrongClockIsNotTheLastWord(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "node"), launch("ran", "staged"))
	wrong := launch("fell-back", "staged")
	wrong.Time = now.AddDate(80, 0, 0)
	raw, err := json.Marshal(wrong)
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, "node", nameAt(wrong.Time, "launch")), raw, 0o600))
	if status := read(t, fleetstatus.Asked{}, dir); status.Groups[0].States[fleetstatus.Staged] != 1 {
		t.Errorf("%+v", status.Groups)
	}
}

// TestNoTextGrows: a node may say what it likes, as long as it likes.
func TestNoTextGrows(t *testing.T) {
	dir := t.TempDir()
	for n := range 60 {
		evil := launch("fell-back", "staged")
		evil.Problem = fmt.Sprintf("%d\n\x1b[31m", n) + strings.Repeat("é", 2000)
		write(t, filepath.Join(dir, fmt.Sprintf("node-%d", n)), evil)
	}
	status := read(t, fleetstatus.Asked{}, dir)
	if causes := status.Groups[0].Causes; len(causes) != 21 || causes[20].Says != "40 other causes" ||
		causes[20].Nodes != 40 {
		t.Errorf("%d causes, the last %+v", len(causes), causes[len(causes)-1])
	}
	for _, one := range status.Problems {
		if len(one.Says) > 250 || strings.Contains(one.Says, "\n") {
			t.Errorf("%d bytes: %q", len(one.Says), one.Says)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	one, other := t.TempDir(), t.TempDir()
	write(t, filepath.Join(one, "node"), launch("ran", "staged"))
	write(t, filepath.Join(other, "node"), launch("ran", "staged"))
	for name, dirs := range map[string][]string{"a folder that is not there": {one + "/gone"},
		"one node in two of them": {one, other}, "a file": {"status.go"}} {
		if _, err := fleetstatus.Read(t.Context(), dirs, fleetstatus.Asked{Now: now}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fleetstatus.Read(over, []string{one}, fleetstatus.Asked{Now: now}); err == nil {
		t.Error("it does not end when it is asked to")
	}
}

func read(t *testing.T, asked fleetstatus.Asked, dirs ...string) fleetstatus.Status {
	t.Helper()
	asked.Now = now
	status, err := fleetstatus.Read(t.Context(), dirs, asked)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
