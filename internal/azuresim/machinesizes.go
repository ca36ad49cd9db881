package azuresim

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// machineSize is how sizes of machines are called: a family, its processors, of these those that are used, what the
// machine has besides, an accelerator and a generation, such as Standard_D4ds_v5, Standard_E4-2s_v5,
// Standard_M416s_8_v2 and Standard_NC24ads_A100_v4. In letters of either case: Azure compares them so.
//
// https://learn.microsoft.com/azure/virtual-machines/vm-naming-conventions
var machineSize = regexp.MustCompile(`(?i)^Standard_(?:A|B|D|DS|DC|E|EC|F|FX|G|GS|H|HB|HC|HX|L|M|NC|ND|NG|NP|NV)` +
	`[1-9][0-9]{0,2}(?:-[1-9][0-9]{0,2})?[abdeilmnprst]{0,6}(?:_[0-9]{1,2})?` +
	`(?:_(?:A10|A100|GB200|H100|H200|MI300X|T4|V620|V710))?(?:_v[1-7])?$`)

// checkMachine is AKS's refusal of a size of machine that there is not, or that the subscription may not have.
//
// https://github.com/dotnet/core/issues/7603
func (m *model) checkMachine(name string, properties map[string]any) *refusal {
	size, _ := properties["vmSize"].(string)
	is := func(other string) bool { return strings.EqualFold(other, size) }
	if !slices.ContainsFunc(m.scenario.NotAllowedSizes, is) && (machineSize.MatchString(size) || m.ownSize(size)) {
		return nil
	}
	return refuse(http.StatusBadRequest, "BadRequest",
		"The VM size of AgentPoolProfile:%s is not allowed in your subscription in location '%s'.  For more details, "+
			"please visit https://aka.ms/aks/quotas-skus-regions", name, m.scenario.Location)
}

// ownSize tells whether the scenario's own pools have machines of a size: then there is such a size, whatever it is
// called.
func (m *model) ownSize(size string) bool {
	return slices.ContainsFunc(m.scenario.Pools, func(setup Pool) bool { return strings.EqualFold(setup.VMSize, size) })
}
