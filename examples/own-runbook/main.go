// Command fleet is a site's own program: Salve's commands and runbooks, and one of its own.
package main

import (
	"os"

	"example.com/fleet/stalewebhook"
	"salve/cli"
)

func main() {
	os.Exit(cli.Main(cli.Options{
		Name: "fleet", About: "Runbooks of the fleet's operators",
		Runbooks: append(cli.BuiltIn(), stalewebhook.Provider()),
	}))
}
