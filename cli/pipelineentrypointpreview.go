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
	// Plan is nil where it is not known yet; Unknown says why.
	Plan    *previewed `json:"plan,omitempty"`
	Unknown string     `json:"unknown,omitempty"`
}

func (g previewedGroup) print(out io.Writer) {
	heading := "== " + g.ServiceGroup
	if len(g.After) > 0 {
		heading += ", after " + strings.Join(g.After, ", ")
	}
	fmt.Fprintf(out, "\n%s\n", console.Visible(heading))
	if g.Plan == nil {
		fmt.Fprintf(out, "What it would do is known once those before it are rolled out: %s\n", console.Visible(g.Unknown))
		return
	}
	g.Plan.print(out)
	fmt.Fprintf(out, "\n%s.\n", g.Plan.Programs)
}
