package check

import (
	"salve/internal/prow/blocked"
	"salve/internal/prow/config"
)

// Rules are all that is looked for, in the order in which they are told. docs/prow.md
// says of each what to do about it.
func Rules() []Rule {
	return append(append(fileRules(), namespaceRules()...), append(protectionRules(), deploymentRules()...)...)
}

func fileRules() []Rule {
	return []Rule{
		{ID: config.RuleUnreadable, find: loading(config.RuleUnreadable),
			Says: "All files of the configuration can be read.",
			Why:  "Prow keeps its last configuration, and a component that restarts doesn't start."},
		{ID: config.RuleRefused, find: loading(config.RuleRefused),
			Says: "Prow takes the configuration.",
			Why:  "Prow keeps its last configuration, and a component that restarts doesn't start."},
		{ID: config.RuleDropped, find: loading(config.RuleDropped),
			Says: "Nothing is written that Prow drops without a word.",
			Why:  "Of two keys of one name, or two documents in a file, one is never read."},
		{ID: "unknown-field", find: plain(unknownFields),
			Says: "All fields are Prow's.",
			Why:  "A field that Prow doesn't know has no effect, and Prow doesn't say so."},
		{ID: "policy-error", needs: []need{wholeConfig}, find: plain(policyErrors),
			Says: "The protection of each branch can be computed.",
			Why:  "branchprotector leaves the branch as it is and ends non-zero, each time; checkconfig says nothing."},
		{ID: "context-conflict", needs: []need{wholeConfig}, find: plain(contextConflicts),
			Says: "No context is both required and optional to Tide.",
			Why:  "Tide can't say then what a pull request waits for, and merges nothing on that branch."},
	}
}

func namespaceRules() []Rule {
	return []Rule{
		{ID: "P1", needs: []need{wholeConfig}, find: plain(masked),
			Says: "A mix-up of the namespaces of ProwJobs and of pods can show.",
			Why:  "On 5 February 2019 staging had one namespace for both, so that the mistake first showed in production."},
		{ID: "P2", needs: []need{wholeConfig, liveCluster}, find: noRail,
			Says: "plank may make pods in the pod namespace, and nowhere else.",
			Why:  "With that right alone the first pod in a wrong namespace is refused, and the job says so."},
		{ID: "P3", needs: []need{wholeConfig, liveCluster}, find: outOfReach,
			Says: "What jobs name is in the pod namespace: Secrets, ConfigMaps, service accounts.",
			Why:  "A pod that lacks one waits until it is given up."},
		{ID: "P4", needs: []need{wholeConfig}, find: agree,
			Says: "All components of a release have one pair of namespaces and one version, and no change edits the pair.",
			Why:  "With another prowjob_namespace sinker deletes every live pod; with another pod_namespace jobs hang."},
	}
}

func protectionRules() []Rule {
	return []Rule{
		{ID: "B1", needs: []need{wholeConfig}, find: plain(conditional),
			Says: "What is required by hand is reported on each pull request.",
			Why:  "A status that never comes keeps a pull request from being merged for ever."},
		{ID: "B2", needs: []need{wholeConfig}, find: ghosts, live: needing(liveGitHub, liveGhosts),
			Says: "Each required context is reported by somebody.",
			Why:  "A status that nobody reports keeps all pull requests from being merged."},
		{ID: "B3", needs: []need{wholeConfig, liveGitHub}, find: drifted, live: drifted,
			Says: "Branches on GitHub are protected as the configuration says.",
			Why:  "What another writer, or an old branchprotector, requires there keeps pull requests from being merged."},
		{ID: "B4", needs: []need{wholeConfig}, find: leftBehind, live: needing(liveGitHub, liveLeftovers),
			Says: "A change leaves no protection behind, and removes none by mistake; GitHub has nothing left over.",
			Why:  "What branchprotector doesn't manage any more stays in force as it was, for ever."},
		{ID: blocked.WedgeRule, needs: []need{wholeConfig, liveGitHub, ownCluster}, find: wedged, live: wedged,
			Says: "Each required context is on the head of each open pull request, or on its way.",
			Why:  "A status that nothing will report keeps a pull request from being merged for ever, and no job is red."},
		{ID: blocked.SplitRule, needs: []need{wholeConfig, liveGitHub}, find: split, live: split,
			Says: "GitHub doesn't block what Tide would merge.",
			Why:  "Tide never reads the protection on GitHub: it tries the merge again and again, and is refused."},
		{ID: "B7", needs: []need{wholeConfig, watchedHistory}, find: flips, live: flips,
			Says: "What a branch requires doesn't change and come back.",
			Why:  "Two write there, and what is repaired by hand will not stay."},
		{ID: "B8", needs: []need{wholeConfig, manifests}, find: regress, live: regress,
			Says: "The branchprotector that is about to run is the one that the manifests say.",
			Why:  "The next deployment undoes an edit by hand, and an old one requires what it used to."},
		{ID: "B9", needs: []need{wholeConfig, baseConfig}, find: plain(order),
			Says: "A status doesn't stop appearing before it stops being required.",
			Why:  "GitHub requires it until branchprotector has run to its end, which takes hours in a large organization."},
		{ID: "required-contexts", needs: []need{wholeConfig, baseConfig}, find: plain(changedContexts),
			Says: "What a change requires, and what it frees, is said.",
			Why:  "A job's condition, not only a list, decides what GitHub requires."},
		{ID: "open-pull-requests", needs: []need{wholeConfig, baseConfig, pullRequests}, find: stuck,
			Says: "No open pull request gets stuck by a change.",
			Why:  "Nothing in Prow starts a job on open pull requests because it became required."},
	}
}

func deploymentRules() []Rule {
	return []Rule{
		{ID: "manifest-unreadable", needs: []need{manifests}, find: unreadableManifests,
			Says: "All manifests can be read.",
			Why:  "What isn't read isn't checked."},
		{ID: "C1", needs: []need{wholeConfig, knownDeployJobs}, find: cycles,
			Says: "No job deploys what it needs itself, unless there is a proven way around it.",
			Why:  "On 5 February 2019 the rollback could not be deployed by the Prow that it was to mend."},
		{ID: "C2", needs: []need{wholeConfig, knownDeployJobs}, find: noExit,
			Says: "The way around Prow is documented, needs no part of Prow, and was exercised.",
			Why:  "A way that nobody has gone is found closed when it is needed."},
		{ID: "C3", needs: []need{wholeConfig, knownDeployJobs}, find: plain(lockedDoor),
			Says: "Somebody may merge by hand where Prow is deployed from.",
			Why:  "Required statuses don't come from a Prow that is down."},
		{ID: "C4", needs: []need{wholeConfig, manifests, baseManifests}, find: sameBreath,
			Says: "One change doesn't carry both what deploys Prow and what writes branch protection.",
			Why:  "The revert of 5 February 2019 put an older branchprotector back to work."},
	}
}
