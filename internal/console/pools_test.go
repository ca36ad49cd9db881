package console

import (
	"math"
	"strings"
	"testing"
	"time"

	"salve/engine"
	"salve/runbook"
)

// TestStripOfNodes: a dot for each node, full for those that serve; a number where they are many.
func TestStripOfNodes(t *testing.T) {
	evidence := func(source string, value any) engine.Event {
		finding := runbook.Yes("so it is").WithEvidence(runbook.NewEvidence(source, "", midnight, value))
		return engine.Event{Kind: engine.Found, Finding: &finding}
	}
	moved := func(pools ...runbook.PoolNodes) engine.Event {
		return engine.Event{Kind: engine.StepMoved, Step: "s", Progress: &runbook.Progress{Pools: pools}}
	}
	for _, row := range []struct {
		name   string
		events []engine.Event
		want   string
	}{
		{"from evidence of guards",
			[]engine.Event{evidence("nodes of pool system", map[string]int{"nodes": 5, "serving": 3})}, "  system ●●●○○"},
		{"from what a step reports", []engine.Event{moved(runbook.PoolNodes{Pool: "system", Serving: 3, Nodes: 5},
			runbook.PoolNodes{Pool: "s4f0", Role: "stand-in", Serving: 5, Nodes: 5})}, "  system ●●●○○  stand-in ●●●●●"},
		{"the role is remembered", []engine.Event{moved(runbook.PoolNodes{Pool: "s4f0", Role: "stand-in", Nodes: 2}),
			evidence("nodes of pool s4f0", map[string]int{"nodes": 2, "serving": 1})}, "  stand-in ●○"},
		{"gone", []engine.Event{moved(runbook.PoolNodes{Pool: "system", Gone: true})}, "  system gone"},
		{"none", []engine.Event{moved(runbook.PoolNodes{Pool: "system"})}, "  system no nodes"},
		{"many", []engine.Event{moved(runbook.PoolNodes{Pool: "workers", Serving: 498, Nodes: 500})}, "  workers 498 of 500"},
		{"more than there should be", []engine.Event{moved(runbook.PoolNodes{Pool: "w", Serving: 4, Nodes: 3})}, "  w ●●●●"},
		{"absurd", []engine.Event{moved(runbook.PoolNodes{Pool: "w", Serving: -7, Nodes: math.MaxInt})},
			"  w 0 of 9223372036854775807"},
		{"other evidence", []engine.Event{evidence("nodes of pool w", "three"), evidence("pods", map[string]int{"nodes": 1}),
			evidence("nodes of pool w", map[string]int{"nodes": 3})}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			picture := &picture{title: "title"}
			for _, event := range row.events {
				picture.take(event)
			}
			lines := strings.Split(uncoloured(picture.draw(midnight.Add(time.Minute), 80, 24, 0)), "\n")
			if got := lines[1]; got != row.want && (row.want != "" || strings.ContainsAny(got, "●○")) {
				t.Errorf("drawn %q, want %q", got, row.want)
			}
		})
	}
}
