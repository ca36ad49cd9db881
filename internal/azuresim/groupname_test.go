package azuresim_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestResourceGroupsAreMadeWhereAzureHasThem: a name or a region with a mistake in it fails in a rehearsal as it would
// in the rollout.
func TestResourceGroupsAreMadeWhereAzureHasThem(t *testing.T) {
	const version = "?api-version=2021-04-01"
	const refused, uk = http.StatusBadRequest, `{"location": "uksouth"}`
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		for name, row := range map[string]struct {
			group, body string
			status      int
			code        string
		}{
			"a region that there is":      {"one", uk, http.StatusCreated, ""},
			"a region as people write it": {"two", `{"location": "West Europe"}`, http.StatusCreated, ""},
			"a region that there isn't": {"three", `{"location": "westeuropa"}`, refused,
				"LocationNotAvailableForResourceGroup"},
			"no region":                   {"three", `{}`, refused, "LocationRequired"},
			"a name that ends with a dot": {"three.", uk, refused, "InvalidResourceGroup"},
			"a name with a mark":          {"three!", uk, refused, "InvalidResourceGroup"},
			"a name that is too long":     {strings.Repeat("x", 91), uk, refused, "InvalidResourceGroup"},
			"the longest name":            {strings.Repeat("x", 90), uk, http.StatusCreated, ""},
			"one that is there":           {a.scenario.ResourceGroup, `{"location": "West Europe"}`, http.StatusOK, ""},
			"one that is there, in another": {a.scenario.ResourceGroup, uk, http.StatusConflict,
				"InvalidResourceGroupLocation"},
		} {
			got := a.call(t, "PUT", "S/resourcegroups/"+row.group+version, row.body)
			if got.status != row.status || row.code != "" && got.code() != row.code {
				t.Errorf("%s: %d %s, want %d %s", name, got.status, got.text, row.status, row.code)
			}
		}
		if got := a.call(t, "GET", "S/resourcegroups/two"+version, ""); !strings.Contains(got.text, `"westeurope"`) {
			t.Errorf("the region is not written as Azure does: %s", got.text)
		}
	})
}
