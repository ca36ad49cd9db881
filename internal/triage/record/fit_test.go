package record

import (
	"encoding/hex"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"salve/internal/triage"
	"salve/internal/triage/decision"
)

// TestWhatWasCountedTakesRoomToo where the scenarios are left out.
func TestWhatWasCountedTakesRoomToo(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, packedRoom)
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	x := &decision.Examined{Groups: []decision.ExaminedGroup{{Cause: triage.Cause{Text: hex.EncodeToString(text)}}}}
	_, all, _, err := fit(decision.Evidence{Examined: x}, nil)
	if err != nil || !strings.Contains(all, "ways of failing take") {
		t.Errorf("%q, %v", all, err)
	}
}

// TestNumbersThatAreNoneAreNotRecorded, wherever they are.
func TestNumbersThatAreNoneAreNotRecorded(t *testing.T) {
	for name, edit := range map[string]func(*Triage){
		"in what was decided": func(of *Triage) {
			of.Decision.Groups = []decision.Group{{Cause: triage.Cause{Candidates: []triage.Candidate{{LogP: math.Inf(-1)}}}}}
		},
		"in the thresholds": func(of *Triage) { of.Thresholds.Alias = math.NaN() },
		"in what was counted": func(of *Triage) {
			of.Evidence.Examined = &decision.Examined{With: map[string]float64{"alias": math.NaN()}}
		},
	} {
		var of Triage
		edit(&of)
		if raw, _, err := Write(of); err == nil || raw != nil {
			t.Errorf("%s: %v, %d bytes", name, err, len(raw))
		}
	}
}

// TestPackedIsByTwoBytes: a text may begin with one of them.
func TestPackedIsByTwoBytes(t *testing.T) {
	for text, want := range map[string]bool{"\x1f\x8b\x08": true, "\x1f": false, "\x1f{}\n": false, "": false} {
		if packed([]byte(text)) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
