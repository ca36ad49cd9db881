//go:build linux

package main

import (
	"flag"
	"path/filepath"
	"testing"

	"salve/internal/reference"
)

var refresh = flag.Bool("reference", false, "write docs/reference/salve-node.md anew (make reference)")

// TestReferenceIsWhatTheProgramIs: docs/reference has every command and flag, as they are. make reference writes it
// anew.
func TestReferenceIsWhatTheProgramIs(t *testing.T) {
	var rows []reference.Row
	for _, one := range commands() {
		rows = append(rows, reference.Row{Name: one.name, Says: one.does})
	}
	const about = "salve-node runs a hotfix of the node program when there is one, and the baked program in any other " +
		"case: see Node hotfixes.\n\nEvery flag has an environment variable: --api-server is SALVE_NODE_API_SERVER. " +
		"All commands take all flags."
	files := map[string][]byte{
		"salve-node.md": reference.Program("salve-node", about, rows, (&settings{}).flags()),
	}
	folder := filepath.Join("..", "..", "docs", "reference")
	if *refresh {
		if err := reference.Write(folder, "salve-node", files); err != nil {
			t.Fatal(err)
		}
	}
	if err := reference.Stale(folder, "salve-node", files); err != nil {
		t.Error(err)
	}
}
