//go:build linux

package metrics

import (
	"slices"

	"salve/internal/hotfix"
	"salve/internal/hotfix/event"
	"salve/internal/hotfix/slot"
)

// Node is what is known of a node.
type Node struct {
	Boot event.Boot
	// Launched: there was a boot.
	Launched bool
	// Trial is that of the last hotfix that was started; nil if none was.
	Trial *slot.Trial
	// Trials are how many starts it has without a confirmation.
	Trials int
	// Words are the outcomes and reasons that there are.
	Words Words
}

// Words are what may be the value of a label. What is none of them is «other».
type Words struct{ Outcomes, Reasons, Fetched []string }

const other = "other"

// Text gives the metrics of a node.
func Text(n Node) []byte {
	var families []family
	if n.Launched {
		families = append(families, n.boot()...)
		families = append(families, n.hotfix()...)
	}
	return encode(append(families, n.trial()...))
}

func (n Node) boot() []family {
	launch := n.Boot.Launch
	program := "baked"
	if launch.Reason == string(slot.Staged) && launch.Outcome != "fell-back" {
		program = "staged"
	}
	return []family{
		{"salve_node_boot_timestamp_seconds", "When the last boot began, in Unix time.",
			only(float64(launch.Time.UnixMilli()) / 1000)},
		{"salve_node_boot_seconds", "How long the last boot took until the baked program began, or the hotfix ended.",
			only(launch.Milliseconds["all"] / 1000)},
		{"salve_node_boot_outcome", "How the last boot ended: 1 for the outcome that it had.",
			states("outcome", n.Words.Outcomes, launch.Outcome)},
		{"salve_node_boot_level", "How far the last boot is for somebody to look at: 1 for the level that it had.",
			states("level", []string{string(event.Information), string(event.Warning), string(event.Error)},
				string(launch.Level))},
		{"salve_node_boot_info", "The program of the last boot, and the reason for it. Always 1.",
			[]sample{{[]label{{"program", program}, {"reason", known(n.Words.Reasons, launch.Reason)}}, 1}}},
	}
}

// hotfix is about what was decided and fetched at the last boot, if anything was.
func (n Node) hotfix() []family {
	var families []family
	if fetch := n.Boot.Fetch; fetch != nil {
		outcome := label{"outcome", known(n.Words.Fetched, fetch.Outcome)}
		families = append(families, family{"salve_node_fetch_info",
			"What came of fetching the hotfix at the last boot. Always 1.", []sample{{[]label{outcome}, 1}}})
	}
	if n.Boot.Prepare == nil || n.Boot.Prepare.Decision == nil {
		return families
	}
	decision := *n.Boot.Prepare.Decision
	reasons := make([]string, 0, len(hotfix.Reasons()))
	for _, one := range hotfix.Reasons() {
		reasons = append(reasons, string(one))
	}
	families = append(families, family{"salve_node_hotfix_info",
		"The version of the image, the hotfix that the pointer names for this node, and why. Always 1.",
		[]sample{{[]label{{"current", version(decision.Current)}, {"target", version(decision.Wanted())},
			{"reason", known(reasons, string(decision.Reason))}}, 1}}})
	if canary := decision.Canary; canary != nil {
		families = append(families,
			family{"salve_node_canary_percent", "The share of nodes that the canary of this node's base is for.",
				only(float64(canary.Percent) / 100)},
			family{"salve_node_canary_selected", "Whether this node is one of the canary's.", only(truth(canary.Takes))})
	}
	return families
}

func (n Node) trial() []family {
	if n.Trial == nil {
		return nil
	}
	return []family{
		{"salve_node_trial_info", "The hotfix that was started last. Always 1.",
			[]sample{{[]label{{"target", version(n.Trial.Target)}}, 1}}},
		{"salve_node_trial_starts", "How often it was started without a confirmation.", only(float64(n.Trial.Trials))},
		{"salve_node_trial_limit", "How often it may be.", only(float64(max(n.Trials, 1)))},
		{"salve_node_trial_confirmed", "Whether it is confirmed.", only(truth(n.Trial.Confirmed))},
	}
}

func only(value float64) []sample { return []sample{{value: value}} }

func truth(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// states gives each word a sample, 1 for the one that holds.
func states(name string, words []string, holds string) []sample {
	holds = known(words, holds)
	samples := make([]sample, 0, len(words)+1)
	for _, word := range append(slices.Clone(words), other) {
		samples = append(samples, sample{[]label{{name, word}}, truth(word == holds)})
	}
	return samples
}

func known(words []string, word string) string {
	if slices.Contains(words, word) {
		return word
	}
	return other
}

// version gives a version as it is; what is none is empty.
func version(text string) string {
	parsed, err := hotfix.ParseVersion(text)
	if err != nil {
		return ""
	}
	return parsed.String()
}
