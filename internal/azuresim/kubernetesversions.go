package azuresim

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kubernetesVersion is a version such as 1.33.4; patch is negative when only the minor version is named.
type kubernetesVersion struct{ major, minor, patch int }

var kubernetesVersionShape = regexp.MustCompile(`^(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?$`)

func parseKubernetesVersion(text string) (kubernetesVersion, bool) {
	parts := kubernetesVersionShape.FindStringSubmatch(text)
	if parts == nil {
		return kubernetesVersion{}, false
	}
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			return -1 // it is left out
		}
		return n
	}
	return kubernetesVersion{number(parts[1]), number(parts[2]), number(parts[3])}, true
}

func (v kubernetesVersion) String() string {
	return fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch)
}

func (v kubernetesVersion) compare(other kubernetesVersion) int {
	return slices.Compare([]int{v.major, v.minor, v.patch}, []int{other.major, other.minor, other.patch})
}

// controlPlaneVersion is that of the cluster; ok is false where the scenario names one of another form.
func (m *model) controlPlaneVersion() (kubernetesVersion, bool) {
	version, ok := parseKubernetesVersion(m.scenario.KubernetesVersion)
	return version, ok && version.patch >= 0
}

// offered are the versions that the region has: from two minor versions below the cluster's to one above, each with the
// cluster's patch and the one before it. Which they really are changes every month.
func (m *model) offered() []kubernetesVersion {
	own, ok := m.controlPlaneVersion()
	if !ok {
		return nil
	}
	var all []kubernetesVersion
	for minor := max(own.minor-2, 0); minor <= own.minor+1; minor++ {
		for patch := max(own.patch-1, 0); patch <= own.patch; patch++ {
			all = append(all, kubernetesVersion{own.major, minor, patch})
		}
	}
	return all
}

// poolVersion is a pool's version: of a definition that names the minor version alone, the newest patch that the
// control
// plane allows.
func (m *model) poolVersion(named string) string {
	version, ok := parseKubernetesVersion(named)
	own, known := m.controlPlaneVersion()
	if !ok || !known || version.patch >= 0 {
		return named
	}
	if version.minor == own.minor {
		return own.String()
	}
	for _, one := range slices.Backward(m.offered()) {
		if one.minor == version.minor && one.major == version.major {
			return one.String()
		}
	}
	return named
}

// checkVersion is what AKS refuses of a pool's version: one of no form, one that is newer than the control plane's, one
// below that which the pool has, and one that the region does not offer. current is nil for a new pool.
//
// The texts: https://github.com/rancher/rancher/issues/33426, https://github.com/MicrosoftDocs/azure-docs/issues/35696,
// https://aka.ms/aks-supported-k8s-ver
func (m *model) checkVersion(name, named string, current *pool) *refusal {
	version, ok := parseKubernetesVersion(m.poolVersion(named))
	own, known := m.controlPlaneVersion()
	switch {
	case named == "" || !known || current != nil && named == current.text("orchestratorVersion"):
		return nil
	case !ok:
		return refuse(http.StatusBadRequest, "InvalidParameter", "The value of parameter "+
			"orchestratorProfile.OrchestratorVersion is invalid. Please see https://aka.ms/aks-naming-rules for more details.")
	case version.compare(own) > 0:
		what := fmt.Sprintf("Minor version of node pool version %d is bigger than control plane version %d", version.minor,
			own.minor)
		if version.minor == own.minor {
			what = fmt.Sprintf("Patch version of node pool version %d is bigger than control plane version %d", version.patch,
				own.patch)
		}
		return refuse(http.StatusBadRequest, "NodePoolMcVersionIncompatible",
			"Node pool version %s and control plane version %s are incompatible. %s. For more information, please check "+
				"https://aka.ms/version-skew-policy", m.poolVersion(named), own, what)
	case current != nil && version.compare(m.versionOf(current)) < 0:
		return refuse(http.StatusBadRequest, "AgentPoolUpgradeVersionNotAllowed",
			"Upgrading agent pool '%s' from version %s to %s is not allowed. Available upgrades: [%s]. Please see "+
				"https://aka.ms/aks-supported-k8s-ver for version details.", name, m.versionOf(current), version,
			strings.Join(m.upgradesFrom(m.versionOf(current), own), " "))
	case version != own && !slices.Contains(m.offered(), version):
		return refuse(http.StatusBadRequest, "AgentPoolK8sVersionNotSupported",
			"Version %s is not supported in this region. Please use [az aks get-versions] command to get the supported version "+
				"list in this region. For more information, please check https://aka.ms/supported-version-list", version)
	}
	return nil
}

func (m *model) versionOf(p *pool) kubernetesVersion {
	version, _ := parseKubernetesVersion(m.poolVersion(p.text("orchestratorVersion"))) // its default is the cluster's
	return version
}

// upgradesFrom are the offered versions above one, up to another.
func (m *model) upgradesFrom(from, to kubernetesVersion) []string {
	upgrades := []string{}
	for _, one := range m.offered() {
		if one.compare(from) > 0 && one.compare(to) <= 0 {
			upgrades = append(upgrades, one.String())
		}
	}
	return upgrades
}
