package hotfix_test

import (
	"encoding/json"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"salve/internal/hotfix"
)

// maxAllocated is what reading any pointer may allocate in all, in bytes.
const maxAllocated = 500 * hotfix.MaxPointerSize

// FuzzParsePointer: whatever the bytes, no panic, and no more memory than a bound
// that follows from the largest file.
func FuzzParsePointer(f *testing.F) {
	for _, row := range pointers {
		f.Add([]byte(row.pointer))
	}
	f.Add([]byte(`{"hotfixes":{` + strings.Repeat(`"":0,`, 13_000) + `"":0}}`))
	f.Add([]byte(`{` + strings.Repeat(`"version":[],`, 5_000) + `"version":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		pointer, err := hotfix.ParsePointer(raw)
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > maxAllocated {
			t.Errorf("%d bytes allocated for %d", allocated, len(raw))
		}
		switch {
		case err != nil:
			return
		case len(raw) > hotfix.MaxPointerSize:
			t.Error("a pointer that is too large was accepted")
		case !json.Valid(raw):
			t.Error("what is no JSON was accepted")
		}
		for _, warning := range pointer.Warnings() {
			if warning.Offset < 0 || warning.Offset >= len(raw) || warning.Problem == "" {
				t.Errorf("warning %+v of %d bytes", warning, len(raw))
			}
		}
		for _, entry := range pointer.Entries() {
			if entry.Offset <= 0 || entry.Offset >= len(raw) {
				t.Errorf("entry %+v of %d bytes", entry, len(raw))
			}
		}
	})
}

// version is the grammar once more, written in another way.
var version = regexp.MustCompile(`^([0-9]{6}\.[0-9]{2})\.(0|[1-9][0-9]{0,8})(-[0-9A-Za-z.]{1,40})?$`)

// FuzzDecide: a node installs nothing but a higher patch of its own base, by the
// very text of the pointer.
func FuzzDecide(f *testing.F) {
	for _, row := range pointers {
		f.Add(row.node(), []byte(row.pointer))
	}
	for _, row := range canaryRules {
		f.Add(early.Version, []byte(row.pointer))
	}
	for _, row := range twoVersions {
		f.Add(row.current, []byte(`{"version":`+quoted(row.target)+`}`))
		f.Add(row.current, []byte(`{"hotfixes":{"202604.01":`+quoted(row.target)+`}}`))
	}
	f.Fuzz(func(t *testing.T, current string, raw []byte) {
		pointer, err := hotfix.ParsePointer(raw)
		if err != nil {
			return
		}
		node := hotfix.Node{Version: current, ID: early.ID}
		decision := hotfix.DecideFor(node, pointer)
		if _, err := json.Marshal(decision); err != nil {
			t.Fatal(err)
		}
		if (decision.Action == hotfix.Install) != (decision.Target != nil) ||
			(decision.Action == hotfix.Install) != (decision.Reason == hotfix.ReasonInstall) {
			t.Errorf("%+v", decision)
		}
		for _, target := range []*string{decision.Target, decision.Scripts.Target} {
			if target != nil {
				mayInstall(t, current, *target, raw)
			}
		}
		if again := hotfix.DecideFor(node, pointer); again.Reason != decision.Reason || again.Wanted() != decision.Wanted() {
			t.Errorf("first %+v, then %+v", decision, again)
		}
	})
}

// FuzzDecideSigned: whatever a signed pointer says, what is installed has its digest under the signature. It is what
// the node would take without a signature; or an earlier version than the canary's that has none.
func FuzzDecideSigned(f *testing.F) {
	const digest = `{"amd64":{"sha256":"abababababababababababababababababababababababababababababababab","size":7,"format":"deb"}}`
	for _, row := range canaryRules {
		f.Add(early.Version, []byte(row.pointer))
		f.Add(early.Version, []byte(strings.TrimSuffix(row.pointer, "}")+`, "artifacts": {"202604.01": `+digest+`}}`))
		f.Add(early.Version, []byte(strings.Replace(strings.TrimSuffix(row.pointer, "}")+`, "artifacts": {"202604.01": `+digest+
			`}}`, `"percent"`, `"artifacts": {"arm64": {}}, "percent"`, 1)))
	}
	f.Fuzz(func(t *testing.T, current string, raw []byte) {
		pointer, err := hotfix.ParsePointer(raw)
		if err != nil {
			return
		}
		pointer = pointer.By(hotfix.Provenance{Signed: true})
		node := hotfix.Node{Version: current, ID: early.ID}
		free, decision := hotfix.DecideFor(node, pointer), hotfix.DecideSigned(node, pointer, "amd64")
		if (decision.Action == hotfix.Install) != (decision.Target != nil) ||
			(decision.Action == hotfix.Install) != (decision.Reason == hotfix.ReasonInstall) {
			t.Errorf("%+v", decision)
		}
		if decision.Target == nil {
			return
		}
		mayInstall(t, current, *decision.Target, raw)
		target, err := hotfix.ParseVersion(*decision.Target)
		check(t, err)
		if _, found, err := pointer.ArtifactOf(target, "amd64"); !found || err != nil {
			t.Errorf("%s is installed, and has no digest: %v", target, err)
		}
		if decision.Wanted() == free.Wanted() && decision.Canary.Missed() != hotfix.ReasonNotUnderSignature {
			return
		}
		canary, err := hotfix.ParseVersion(free.Wanted())
		check(t, err)
		if !free.Canary.Takes || decision.Canary.Takes || !canary.Patches(target) || len(decision.Warnings) == 0 {
			t.Errorf("%+v, and without a signature %+v", decision, free)
		}
	})
}

func mayInstall(t *testing.T, current, target string, raw []byte) {
	t.Helper()
	from, to := version.FindStringSubmatch(strings.TrimSpace(current)), version.FindStringSubmatch(target)
	if from == nil || to == nil {
		t.Fatalf("%q is installed over %q", target, current)
	}
	had, gets := number(t, from[2]), number(t, to[2])
	if from[1] != to[1] || gets <= had {
		t.Errorf("%q is installed over %q", target, current)
	}
	// An escape in the pointer hides its text.
	if !strings.Contains(string(raw), target) && !strings.Contains(string(raw), `\`) {
		t.Errorf("%q is installed, which the pointer does not hold", target)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	check(t, err)
	return n
}
