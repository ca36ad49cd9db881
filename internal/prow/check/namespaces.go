package check

import (
	"fmt"

	"salve/internal/prow/config"
	"salve/internal/prow/finding"
)

// masked is P1: where ProwJobs and pods have one namespace, a component that mixes the
// two up works, and production is where it first fails. An instance that exists to find
// such mistakes must not be like that, nor use the namespace that forgotten settings
// lead to; for any other it is worth knowing.
func masked(f *facts) finding.List {
	jobs, pods := f.now.ProwJobNamespace, f.now.PodNamespace
	found := finding.Finding{Position: pods.Position, Severity: finding.Info, Evidence: pair(f.now.Config),
		Mend: "give ProwJobs and pods a namespace each, neither of them default"}
	if f.Options.Staging {
		found.Severity = finding.Warn
	}
	switch {
	case jobs.Value == pods.Value:
		found.Message = fmt.Sprintf("ProwJobs and pods share namespace %q: a component that mixes the two up can't show here",
			pods.Value)
	case f.Options.Staging && (jobs.Value == "default" || pods.Value == "default"):
		found.Message = `namespace "default" is what a component uses that forgets the setting: that can't show here`
	default:
		return nil
	}
	return finding.List{found}
}

func pair(c *config.Config) []string {
	return []string{
		fmt.Sprintf("prowjob_namespace: %s (%s)", c.ProwJobNamespace.Value, c.ProwJobNamespace.Position),
		fmt.Sprintf("pod_namespace: %s (%s)", c.PodNamespace.Value, c.PodNamespace.Position),
	}
}

// agree is P4: all components of a release have one pair of namespaces, and a change
// doesn't edit it. An edit is always ALERT: nothing in Prow guards against what follows.
func agree(f *facts) (finding.List, finding.Lack) {
	var found finding.List
	lack := manifests(f)
	if lack == nothing() {
		found, lack = f.releases()
	}
	edits := baseConfig(f)
	if edits == nothing() {
		found = append(found, f.editedNamespaces()...)
	}
	return found, both(lack, edits)
}

// editedNamespaces tells what an edit does: see section 1.2 of the facts, which are of
// cmd/prow-controller-manager/main.go, pkg/flagutil/kubernetes_cluster_clients.go and
// cmd/sinker/main.go in https://github.com/kubernetes-sigs/prow.
func (f *facts) editedNamespaces() finding.List {
	var found finding.List
	for _, edit := range []struct {
		field       string
		before, now config.Located
		follows     []string
		mend        string
	}{
		{"prowjob_namespace", f.base.ProwJobNamespace, f.now.ProwJobNamespace, []string{
			"sinker finds no ProwJob for any pod, takes every live pod for an orphan and deletes it",
			"tide and horologium list ProwJobs where there are none; hook and prow-controller-manager keep the old " +
				"namespace until each of them restarts",
		}, "not as a change beside others: scale sinker to 0, let all jobs end, merge, restart all components together, " +
			"and start sinker when new ProwJobs are in the new namespace"},
		{"pod_namespace", f.base.PodNamespace, f.now.PodNamespace, []string{
			"until prow-controller-manager restarts, no pod is started and no job fails: Prow hangs without a word",
			"after it restarted, each running job gets a second pod; the first ones are not seen any more by " +
				"prow-controller-manager, sinker and crier, and stay",
		}, "not as a change beside others: let all jobs end, see that Secrets, ConfigMaps, service accounts and rights " +
			"are in the new namespace, merge, and restart prow-controller-manager, sinker and crier"},
	} {
		if edit.before.Value == edit.now.Value {
			continue
		}
		found = append(found, finding.Finding{Severity: finding.Alert, Position: edit.now.Position,
			Subject:  finding.Subject{Namespace: edit.now.Value, Detail: edit.field},
			Message:  fmt.Sprintf("%s changes from %q to %q", edit.field, edit.before.Value, edit.now.Value),
			Evidence: append([]string{fmt.Sprintf("in %s: %s", f.Base.Name, edit.before.Position)}, edit.follows...),
			Mend:     edit.mend})
	}
	return found
}
