package cli

import "testing"

// TestTyposAreToldFromOtherNames: a cluster that is yet to be made is no misspelling of its neighbour.
func TestTyposAreToldFromOtherNames(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		typed, there string
		want         bool
	}{
		{"ask-1", "aks-1", true}, {"flete", "fleet", true}, {"aks1", "aks-1", true},
		{"prod-westeurop", "prod-westeurope", true},
		{"aks-2", "aks-1", false}, {"aks-prod2", "aks-prod1", false}, {"aks-westus", "aks-eastus", false},
		{"blue-b", "blue-a", false}, {"ask-2", "aks-1", false}, {"production", "aks-1", false},
	} {
		if got := isTypo(row.typed, row.there); got != row.want {
			t.Errorf("%s for %s: %t", row.typed, row.there, got)
		}
	}
}
