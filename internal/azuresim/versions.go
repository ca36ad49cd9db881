package azuresim

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// versionList is the api-versions that a kind of resource is asked with. Whatever the version, bodies have the shape of
// the newest.
type versionList struct {
	// armOwn: ARM answers itself, and words its refusal otherwise than for a resource provider.
	armOwn bool
	list   []string
}

// apiVersions are those that are taken, for each kind of resource.
type apiVersions struct{ aks, compute, network, logs, arm, stacks, features versionList }

// supportedVersions lists what the real services take. AKS and ARM say so themselves, in the texts with which they
// refuse others (https://github.com/Azure/azure-cli/issues/28368, https://github.com/Azure/azure-cli/issues/31331);
// what came after these texts is of https://github.com/Azure/azure-rest-api-specs. Previews of AKS come and go, and are
// left out.
func supportedVersions() apiVersions {
	return apiVersions{
		aks: versionList{list: []string{
			"2017-08-31", "2018-03-31", "2019-02-01", "2019-04-01", "2019-06-01", "2019-08-01", "2019-10-01", "2019-11-01",
			"2020-01-01", "2020-02-01", "2020-03-01", "2020-04-01", "2020-06-01", "2020-07-01", "2020-09-01", "2020-11-01",
			"2020-12-01", "2021-02-01", "2021-03-01", "2021-05-01", "2021-07-01", "2021-08-01", "2021-09-01", "2021-10-01",
			"2022-01-01", "2022-02-01", "2022-03-01", "2022-04-01", "2022-06-01", "2022-07-01", "2022-08-01", "2022-09-01",
			"2022-11-01", "2023-01-01", "2023-02-01", "2023-03-01", "2023-04-01", "2023-05-01", "2023-06-01", "2023-07-01",
			"2023-08-01", "2023-09-01", "2023-10-01", "2023-11-01", "2024-01-01", "2024-02-01", "2024-05-01", "2024-07-01",
			"2024-08-01", "2024-09-01", "2024-10-01", "2025-01-01", "2025-02-01", "2025-03-01", "2025-04-01", "2025-05-01",
			"2025-06-01", "2025-07-01", "2025-08-01", "2025-09-01", "2025-10-01", "2026-01-01", "2026-02-01", "2026-03-01",
			"2026-04-01",
		}},
		compute: versionList{list: []string{
			"2015-06-15", "2016-03-30", "2017-03-30", "2017-12-01", "2018-04-01", "2018-06-01", "2018-10-01", "2019-03-01",
			"2019-07-01", "2019-12-01", "2020-06-01", "2020-12-01", "2021-03-01", "2021-04-01", "2021-07-01", "2021-11-01",
			"2022-03-01", "2022-08-01", "2022-11-01", "2023-03-01", "2023-07-01", "2023-09-01", "2024-03-01", "2024-07-01",
			"2024-11-01", "2025-04-01", "2026-03-01", "2026-04-01",
		}},
		network:  versionList{list: []string{"2017-03-30", "2018-10-01"}},
		logs:     versionList{list: []string{"2014-04-01", "2015-04-01", "2017-03-01-preview"}},
		stacks:   versionList{list: []string{"2022-08-01-preview", "2024-03-01", "2025-07-01"}},
		features: versionList{list: []string{"2015-12-01", "2021-07-01"}},
		arm: versionList{armOwn: true, list: []string{
			"2026-06-01", "2025-04-01", "2025-03-01", "2024-11-01", "2024-10-01-preview", "2024-08-01",
			"2024-07-01", "2024-06-01-preview",
			"2024-03-01", "2023-07-01", "2023-07-01-preview", "2023-03-01-preview", "2022-12-01", "2022-11-01-preview",
			"2022-09-01", "2022-06-01", "2022-05-01", "2022-03-01-preview", "2022-01-01", "2021-04-01", "2021-01-01",
			"2020-10-01", "2020-09-01", "2020-08-01", "2020-07-01", "2020-06-01", "2020-05-01", "2020-01-01", "2019-11-01",
			"2019-10-01", "2019-09-01", "2019-08-01", "2019-07-01", "2019-06-01", "2019-05-10", "2019-05-01", "2019-03-01",
			"2018-11-01", "2018-09-01", "2018-08-01", "2018-07-01", "2018-06-01", "2018-05-01", "2018-02-01", "2018-01-01",
			"2017-12-01", "2017-08-01", "2017-06-01", "2017-05-10", "2017-05-01", "2017-03-01", "2016-09-01", "2016-07-01",
			"2016-06-01", "2016-02-01", "2015-11-01", "2015-01-01", "2014-04-01-preview", "2014-04-01", "2014-01-01",
			"2013-03-01",
		}},
	}
}

var versionShape = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-preview)?$`)

// refuseVersion is ARM's refusal of a request's api-version; nil when it is taken.
func (w *World) refuseVersion(found route, asked *request) *refusal {
	version := asked.version()
	switch {
	case version == "":
		return refuse(http.StatusBadRequest, "MissingApiVersionParameter",
			"The api-version query parameter (?api-version=) is required for all requests.")
	case !versionShape.MatchString(version), found.versions.armOwn && !slices.Contains(found.versions.list, version):
		return refuse(http.StatusBadRequest, "InvalidApiVersionParameter",
			"The api-version '%s' is invalid. The supported versions are '%s'.", version,
			strings.Join(supportedVersions().arm.list, ","))
	case len(found.versions.list) > 0 && !slices.Contains(found.versions.list, version):
		return refuse(http.StatusBadRequest, "NoRegisteredProviderFound",
			"No registered resource provider found for location '%s' and API version '%s' for type '%s'. "+
				"The supported api-versions are '%s'. The supported locations are '%[1]s'.",
			w.scenario.Location, version, typeOnly(found.kind), strings.Join(found.versions.list, ", "))
	}
	return nil
}

// typeOnly is a resource type without its namespace, as ARM's errors name it.
func typeOnly(kind string) string {
	_, name, _ := strings.Cut(kind, "/")
	return name
}

// scopeMissing is ARM's answer about a subscription, a resource group or a cluster in a path that there is not; nil
// when
// they are there. 404 is said here of what is absent under a parent that was seen.
func (w *World) scopeMissing(asked *request) *refusal {
	m := w.model
	subscription, inOne := asked.parameters["subscription"]
	group, name := asked.parameter("group"), asked.parameter("cluster")
	_, groupExists := m.findGroup(group)
	switch {
	case inOne && !strings.EqualFold(subscription, m.scenario.Subscription):
		return refuse(http.StatusNotFound, "SubscriptionNotFound", "The subscription '%s' could not be found.", subscription)
	case group != "" && !groupExists:
		return refuse(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", group)
	case name != "" && !m.isCluster(group, name):
		return refuse(http.StatusNotFound, "ResourceNotFound",
			"The Resource '%s/%s' under resource group '%s' was not found. "+
				"For more details please go to https://aka.ms/ARMResourceNotFoundFix", managedClusters, name, group)
	}
	return nil
}

// unknownCall answers what the embedded Azure does not know: neither what the real one would say of it, nor whether
// what
// it is about is there.
func unknownCall(method, path string) func(*World, *request) answer {
	return func(*World, *request) answer {
		return armError(http.StatusNotImplemented, "NotImplemented",
			fmt.Sprintf("the embedded Azure does not know this call: %s %s", method, path))
	}
}
