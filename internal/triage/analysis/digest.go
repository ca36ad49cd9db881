package analysis

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"salve/internal/triage"
	"salve/internal/triage/scenario"
)

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// nameless is the build of a run that nobody gave a name: the same results are the same build.
func nameless(run *scenario.Run) string {
	hash := sha256.New()
	for i := range run.Scenarios {
		s := &run.Scenarios[i]
		fmt.Fprintf(hash, "%q %s %d %s\n", s.Name, s.Outcome, s.Attempts, s.Ended)
	}
	return "results-" + hex.EncodeToString(hash.Sum(nil)[:8])
}

// digest is of what was found, without the time: the same input gives the same one.
func (a *analysis) digest(d *triage.Document) string {
	text, err := json.Marshal(struct {
		Counts     triage.Counts
		Groups     []triage.Group
		Heat       []triage.Heat
		Thresholds []triage.Threshold
	}{d.Counts, d.Groups, d.Heat, d.Thresholds})
	if err != nil { // numbers and texts
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
