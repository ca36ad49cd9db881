package simcli

import (
	"github.com/spf13/cobra"

	"salve/cli"
)

// Main runs the command that the process's arguments name and gives its exit code.
func Main() int {
	return cli.Main(cli.Options{
		Name: "salve-sim", About: "An embedded Azure to rehearse runbooks on, and to serve for test environments",
		Commands: []*cobra.Command{newRehearse(), newServe()},
	})
}
