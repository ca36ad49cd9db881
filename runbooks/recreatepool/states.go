package recreatepool

import (
	"salve/azure"
	"salve/runbook"
)

func clusterEvidence(c azure.Cluster) runbook.Evidence {
	return runbook.NewEvidence("ARM "+c.ID, c.ETag, c.Seen, map[string]string{"provisioningState": c.State})
}

func poolEvidence(c azure.Cluster, pool azure.Pool) runbook.Evidence {
	return runbook.NewEvidence("ARM "+azure.PoolID(c.ID, pool.Name), pool.ETag, c.Seen,
		map[string]any{"provisioningState": pool.State, "count": pool.Count})
}

// orNone is a provisioning state in words.
func orNone(state string) string {
	if state == "" {
		return "without a state"
	}
	return state
}

// operating tells whether a cluster's state is that of a running operation.
func operating(state string) bool { return state == "Updating" || state == "Upgrading" }

// changing tells whether a pool's state is that of a running operation.
func changing(state string) bool {
	switch state {
	case "Creating", "Updating", "Upgrading", "Deleting", "Scaling", "Starting", "Stopping":
		return true
	}
	return false
}

func valueOf[T any](pointer *T) (value T) {
	if pointer != nil {
		value = *pointer
	}
	return value
}
