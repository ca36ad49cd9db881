//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatANodeIsDrawnBy: what was given, or the machine's own UUID, and nothing that came with the image.
func TestWhatANodeIsDrawnBy(t *testing.T) {
	const uuid = "4C4C4544-0035-3010-8054-B7C04F384A32\n"
	for name, row := range map[string]struct{ given, file, want, problem string }{
		"the machine's":                    {"", uuid, "4c4c4544-0035-3010-8054-b7c04f384a32", ""},
		"what was given":                   {" Node-1 ", uuid, "node-1", ""},
		"what was given can't be":          {"node 1", uuid, "", "--node-id"},
		"firmware that was never set up":   {"", "00000000-0000-0000-0000-000000000000\n", "", "were given none"},
		"empty":                            {"", "\n", "", "hint: --node-id"},
		"no firmware":                      {"", "", "", "no such file"},
		"something that is no UUID at all": {"", strings.Repeat("x", 5000), "", "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "product_uuid")
			if row.file != "" {
				check(t, os.WriteFile(path, []byte(row.file), 0o400))
			}
			id, err := nodeID(row.given, path)
			if id != row.want || (err == nil) != (row.problem == "") {
				t.Errorf("%q, %v", id, err)
			}
			if err != nil && !strings.Contains(err.Error(), row.problem) {
				t.Errorf("%v does not say %s", err, row.problem)
			}
		})
	}
}
