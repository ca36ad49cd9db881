// Command salve runs runbooks on real clusters. It hands the command line its
// built-in parts and holds nothing else.
package main

import (
	"os"

	"salve/cli"
)

func main() { os.Exit(cli.Main(cli.Options{Runbooks: cli.BuiltIn()})) }
