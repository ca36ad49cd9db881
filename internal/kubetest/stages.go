package kubetest

import (
	_ "embed" // for stages.yaml
	"fmt"
	"os"
	"strings"
)

// mountingNode begins the name of each node on which pods wait for what they mount.
const mountingNode = "mounting-"

// waits is the jq expression of a pod that still waits for what it mounts. It gives the volumes of Secrets and
// ConfigMaps that aren't optional, unless the kubelet has said that they are mounted.
const waits = `select(.spec.nodeName // "" | startswith("` + mountingNode + `")) | ` +
	`select([.status.conditions[]? | select(.type == "PodReadyToStartContainers" and .status == "True")] == []) | ` +
	`.spec.volumes[]? | select((.secret and (.secret.optional | not)) or ` +
	`(.configMap and (.configMap.optional | not))) | .name`

//go:embed stages.yaml
var stages string

// writeStages writes kwok's configuration.
func (c *ControlPlane) writeStages() error {
	config := strings.ReplaceAll(stages, "'WAITS'", "'"+waits+"'")
	if err := os.WriteFile(c.file("kwok.yaml"), []byte(config), 0o600); err != nil {
		return fmt.Errorf("writing the configuration of kwok: %w", err)
	}
	return nil
}
