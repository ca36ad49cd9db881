package grouping_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"salve/internal/triage/grouping"
)

var update = flag.Bool("update", false, "write the golden keys of samples that have none")

func samples() []sample { return append(append([]sample{}, goSamples...), otherSamples...) }

func TestIdentify(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			got := grouping.Identify(s.failure)
			if got.Message != s.message {
				t.Errorf("message\n%s\nexpected\n%s", got.Message, s.message)
			}
			if got.Frame != s.frame || got.Place != s.place {
				t.Errorf("frame %q at %q, expected %q at %q", got.Frame, got.Place, s.frame, s.place)
			}
		})
	}
}

// TestKeysStayWhileTheVersionDoes: a history is looked up by its keys.
func TestKeysStayWhileTheVersionDoes(t *testing.T) {
	path := fmt.Sprintf("testdata/keys-g%d.txt", grouping.Version)
	raw, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatalf("%v: there are no keys of version %d yet. hint: go test -run Keys -update", err, grouping.Version)
	}
	golden := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		key, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		golden[name] = key
	}
	var keys strings.Builder
	for _, s := range samples() {
		key := string(grouping.Identify(s.failure).Key)
		if was, known := golden[s.name]; known && was != key {
			t.Errorf("%s: the key was %s and is %s, while Version is still %d: histories hold the old one. Raise Version",
				s.name, was, key, grouping.Version)
		} else if !known && !*update {
			t.Errorf("%s: no golden key. hint: go test -run Keys -update", s.name)
		}
		fmt.Fprintf(&keys, "%s  %s\n", key, s.name)
	}
	if len(golden) > len(samples()) {
		t.Errorf("%d golden keys, but only %d samples: whose key moved can't be seen any more", len(golden), len(samples()))
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(path, []byte(keys.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
