package trust_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestWhatTrustRestsOn: whoever reviews how signatures are checked reads this package, two of the house, the injected
// clock and the standard library. What a node links grows by nothing else.
func TestWhatTrustRestsOn(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	check(t, err)
	allowed := "salve/internal/hotfix salve/internal/hotfix/disk salve/internal/hotfix/trust salve/internal/clock " +
		"k8s.io/utils/clock"
	packages := strings.Fields(string(out))
	if len(packages) < 4 {
		t.Fatalf("only %v were listed", packages)
	}
	for _, one := range packages {
		if !strings.Contains(" "+allowed+" ", " "+one+" ") {
			t.Errorf("%s is imported", one)
		}
	}
}
