package azuresim

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// groupName: names of resource groups have letters, digits, parentheses, underscores, dashes and dots, and end with
// another one than a dot:
// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules#microsoftresources
var groupName = regexp.MustCompile(`^[-\w.()\p{L}\p{N}]{0,89}[-\w()\p{L}\p{N}]$`)

// regions are those in which the public cloud keeps resource groups, in the order of its own error text:
// https://github.com/MicrosoftDocs/executable-docs/issues/74
func regions() []string {
	return strings.Split("eastasia,southeastasia,australiaeast,australiasoutheast,brazilsouth,canadacentral,canadaeast,"+
		"switzerlandnorth,germanywestcentral,eastus2,eastus,centralus,northcentralus,francecentral,uksouth,ukwest,"+
		"centralindia,southindia,jioindiawest,italynorth,japaneast,japanwest,koreacentral,koreasouth,mexicocentral,"+
		"northeurope,norwayeast,polandcentral,qatarcentral,spaincentral,swedencentral,uaenorth,westcentralus,westeurope,"+
		"westus2,westus,southcentralus,westus3,southafricanorth,australiacentral,australiacentral2,israelcentral,westindia,"+
		"centraluseuap,eastus2euap", ",")
}

// regionName is a location without what people write for reading: West Europe is westeurope.
func regionName(location string) string {
	return strings.ToLower(strings.ReplaceAll(location, " ", ""))
}

// refuseGroup is what ARM refuses in a new resource group.
func (m *model) refuseGroup(name, location string) *refusal {
	known := regions()
	if !slices.Contains(known, m.scenario.Location) {
		known = append(known, m.scenario.Location)
	}
	switch {
	case !groupName.MatchString(name):
		return refuse(http.StatusBadRequest, "InvalidResourceGroup", "The provided resource group name '%s' has these "+
			"invalid characters or ends with a period. The name can only be a letter, digit, '-', '.', '(', ')' or '_', and "+
			"has 1 to 90 of them.", name)
	case !slices.Contains(known, location):
		return refuse(http.StatusBadRequest, "LocationNotAvailableForResourceGroup", "The provided location '%s' is not "+
			"available for resource group. List of available regions is '%s'.", location, strings.Join(known, ","))
	}
	return nil
}
