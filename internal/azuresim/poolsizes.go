package azuresim

import "net/http"

// What a node of a pool may have; 0 leaves a disk to the size of the machine.
const (
	// https://learn.microsoft.com/azure/aks/azure-cni-overview#maximum-pods-per-node
	fewestPods, mostPods = 10, 250
	// https://github.com/pulumi/pulumi-azure-native/issues/663
	smallestDisk, largestDisk = 30, 2048
)

// checkSizes is what AKS refuses in how large nodes are to be.
func checkSizes(name string, properties map[string]any) *refusal {
	if disk, sent := intOf(properties["osDiskSizeGB"]); sent && disk != 0 && (disk < smallestDisk || disk > largestDisk) {
		return refuse(http.StatusBadRequest, "InvalidParameter",
			"The OSDiskSize for Agent %s cannot be less than %dGB or larger than %dGB.", name, smallestDisk, largestDisk)
	}
	if pods, sent := intOf(properties["maxPods"]); sent && (pods < fewestPods || pods > mostPods) {
		return invalidParameter("agentPoolProfile.maxPods", "maxPods %d is not between %d and %d", pods, fewestPods, mostPods)
	}
	return nil
}
