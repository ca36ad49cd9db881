package cli

import (
	"fmt"
	"io"
	"strings"

	"salve/internal/console"
)

// previewedGroup is what the rollout of a service group would do.
type previewedGroup struct {
	ServiceGroup string   `json:"serviceGroup"`
	After        []string `json:"after,omitempty"`
	// Plan has what isn't known yet at the steps of which it isn't.
	Plan *previewed `json:"plan,omitempty"`
	// Unknown is why that isn't known of the first of them; empty where it is of all.
	Unknown string `json:"unknown,omitempty"`
}

func (g previewedGroup) print(out io.Writer) {
	heading := "== " + g.ServiceGroup
	if len(g.After) > 0 {
		heading += ", after " + strings.Join(g.After, ", ")
	}
	fmt.Fprintf(out, "\n%s\n", console.Visible(heading))
	g.Plan.print(out)
	fmt.Fprintf(out, "\n%s.\n", g.Plan.Programs)
}
