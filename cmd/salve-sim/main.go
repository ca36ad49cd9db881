package main

import (
	"os"

	"salve/internal/simcli"
)

func main() { os.Exit(simcli.Main()) }
