package simcli

import (
	"github.com/spf13/cobra"

	"salve/cli"
)

// Main runs the command that the process's arguments name and gives its exit code.
func Main() int { return cli.Main(Options()) }

// Options are what the program is made of.
func Options() cli.Options {
	return cli.Options{
		Name: "salve-sim", About: "An embedded Azure to rehearse runbooks on, and to serve for test environments",
		Commands: []*cobra.Command{newRehearse(), newServe()},
	}
}

// Documents are what its commands print with --output json, by kind; but for rehearsals, which are runs.
func Documents() map[string]any {
	return map[string]any{"scenarios": scenariosDocument{}, "sim": pointed{}}
}
