package prepublish_test

import (
	"fmt"
	"strings"
	"testing"

	"salve/internal/hotfix"
	"salve/internal/hotfix/prepublish"
)

// TestSharesAreThoseOfNodes: what resolve counts is what each node decides.
func TestSharesAreThoseOfNodes(t *testing.T) {
	path := pointerFile(t, `{"hotfixes":{"202604.01":"202604.01.2"},"canaries":{"202604.01":{"version":"202604.01.3","percent":12.5}}}`)
	pointer, err := hotfix.ReadPointer(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	takes := 0
	const nodes = 5000
	for n := range nodes {
		node := hotfix.Node{ID: fmt.Sprintf("node-%d", n), Version: fmt.Sprintf("202604.01.%d", n%2)}
		fmt.Fprintln(&lines, node.ID, node.Version)
		if hotfix.DecideFor(node, pointer).Wanted() == "202604.01.3" {
			takes++
		}
	}
	fleet, err := prepublish.ReadNodes(strings.NewReader(lines.String()), "")
	if err != nil {
		t.Fatal(err)
	}
	shares := prepublish.Shares(fleet, pointer)
	if len(shares) != 1 || shares[0].Takes != takes || shares[0].Nodes != nodes || shares[0].Unknown != 0 {
		t.Errorf("%+v, and %d of %d nodes take it", shares, takes, nodes)
	}
	groups := prepublish.Resolve(fleet, prepublish.RuleOf(path))
	if len(groups) != 2 || groups[1].Nodes != takes || !groups[1].Canary || groups[1].Versions != 2 {
		t.Errorf("%+v", groups)
	}
}

// TestCanariesOfASignedPointerHaveTheirArtifacts: one digest can't be that of two versions.
func TestCanariesOfASignedPointerHaveTheirArtifacts(t *testing.T) {
	const artifact = `{"amd64":{"sha256":"abababababababababababababababababababababababababababababababab","size":7,"format":"deb"}}`
	for name, row := range map[string]struct{ pointer, says string }{
		"its own": {`{"hotfixes":{"202604.01":"202604.01.2"},"artifacts":{"202604.01":` + artifact + `},
			"canaries":{"202604.01":{"version":"202604.01.3","percent":1,"artifacts":` + artifact + `}}}`, ""},
		"those of its base, which are nobody else's": {`{"artifacts":{"202604.01":` + artifact + `},
			"canaries":{"202604.01":{"version":"202604.01.3","percent":1}}}`, ""},
		"those of its base, which are for all": {`{"hotfixes":{"202604.01":"202604.01.2"},"artifacts":{"202604.01":` + artifact + `},
			"canaries":{"202604.01":{"version":"202604.01.3","percent":1}}}`, "those of its base are for 202604.01.2"},
		"none": {`{"canaries":{"202604.01":{"version":"202604.01.3","percent":1}}}`, "no artifact of its base is under the signature"},
		"one that can't be used": {`{"canaries":{"202604.01":{"version":"202604.01.3","percent":1,"artifacts":{"amd64":{"size":1}}}}}`,
			`canaries["202604.01"].artifacts["amd64"]: sha256 is missing`},
	} {
		t.Run(name, func(t *testing.T) {
			found := prepublish.LintBy(hotfix.Provenance{Signed: true}, "p", []byte(row.pointer), nil)
			if row.says == "" && len(found) > 0 {
				t.Errorf("%v", found)
			}
			if row.says != "" && (len(found) != 1 || !strings.Contains(found[0].String(), row.says)) {
				t.Errorf("%v does not say %s", found, row.says)
			}
		})
	}
}

// TestACanaryGoesBackLikeAnyVersion: nodes that took the higher one would keep it.
func TestACanaryGoesBackLikeAnyVersion(t *testing.T) {
	of := func(version string) []byte {
		return []byte(`{"canaries":{"202604.01":{"version":"` + version + `","percent":1}}}`)
	}
	if found := prepublish.Lint("p", of("202604.01.2"), of("202604.01.3")); len(found) != 1 ||
		!strings.Contains(found[0].Problem, "it goes back from 202604.01.3 to 202604.01.2") {
		t.Errorf("%v", found)
	}
}
