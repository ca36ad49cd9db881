//go:build linux

package main

import (
	"fmt"

	"salve/internal/hotfix"
)

// machineUUID is where the kernel shows the UUID that the firmware gives the machine. Of a virtual machine it is the
// hypervisor's: no image carries it, it is there before any network and stays across boots and reimaging. It is what
// kubectl shows of a node as systemUUID.
const machineUUID = "/sys/class/dmi/id/product_uuid"

// largestID bounds what is read for an ID.
const largestID = 4 << 10

// nodeID gives what this node is drawn by: what was given, or else the machine's UUID. There is no third: a text that
// came with the image would put a whole fleet on one side.
func nodeID(given, path string) (string, error) {
	const hint = "hint: --node-id or SALVE_NODE_NODE_ID says it"
	if given != "" {
		id, err := hotfix.ParseNodeID(given)
		if err != nil {
			return "", fmt.Errorf("--node-id: %w", err)
		}
		return id, nil
	}
	raw, err := hotfix.ReadRegular(path, largestID)
	if err != nil {
		return "", fmt.Errorf("the machine's UUID: %w. %s", err, hint)
	}
	id, err := hotfix.ParseNodeID(string(raw))
	if err != nil {
		return "", fmt.Errorf("%s: %w. %s", path, err, hint)
	}
	return id, nil
}
