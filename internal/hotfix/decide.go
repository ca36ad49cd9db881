package hotfix

// Action is what a node does about a hotfix.
type Action string

// The actions.
const (
	Install Action = "install"
	None    Action = "none"
)

// Reason says why a decision is as it is. They are tested in this order, and the
// first that applies is given.
type Reason string

// The reasons.
const (
	ReasonNoPointer         Reason = "no-pointer"         // there is no pointer file
	ReasonUnreadablePointer Reason = "unreadable-pointer" // not a regular file, too large, or it can't be read
	ReasonEmptyPointer      Reason = "empty-pointer"      // nothing but white space
	ReasonMalformedPointer  Reason = "malformed-pointer"  // not one JSON object, or «hotfixes» can't be used
	ReasonMisspelt          Reason = "misspelt-name"      // a name in the file is nearly one that counts
	ReasonNoVersion         Reason = "no-version"         // neither «hotfixes» nor «version» names anything
	ReasonBaseNotListed     Reason = "base-not-listed"    // «hotfixes» names other bases only
	ReasonExplicitlyNone    Reason = "explicitly-none"    // «hotfixes» has "" or null for this base
	ReasonCurrentMalformed  Reason = "current-malformed"  // the node's own version is none
	ReasonTargetMalformed   Reason = "target-malformed"   // the version that was named is none
	ReasonBaseMismatch      Reason = "base-mismatch"      // it belongs to another base
	ReasonNotHigher         Reason = "not-higher"         // it is the same patch, or an earlier one
	ReasonCanaryMalformed   Reason = "canary-malformed"   // nobody knows what the canary of this base limits, or to whom
	ReasonNoNodeID          Reason = "no-node-id"         // there is a canary, and nothing to draw this node by
	ReasonNotInCanary       Reason = "not-in-canary"      // there is one, and this node is none of it
	ReasonInstall           Reason = "install"
)

// The reasons of trust. A node that has no root of trust gives only the first, one that has gives only the others;
// all but the last are given before anything of a pointer is looked at.
const (
	ReasonUnsafePointer     Reason = "unsafe-pointer"      // somebody else could have written the unsigned pointer
	ReasonUnusableRoot      Reason = "unusable-root"       // the root of trust is there and can't be used
	ReasonStateUnusable     Reason = "state-unusable"      // what was seen before can't be read, or kept
	ReasonUntrusted         Reason = "untrusted"           // not signed by enough of the keys that are trusted
	ReasonReplayed          Reason = "replayed"            // an older document than one that was seen here
	ReasonClockBeforeIssue  Reason = "clock-before-issue"  // the clock is wrong, so nobody knows what has expired
	ReasonExpired           Reason = "expired"             // the document, or the root of trust
	ReasonNotUnderSignature Reason = "not-under-signature" // no digest is signed for this base and architecture
)

// Reasons lists all there are.
func Reasons() []Reason {
	return []Reason{ReasonNoPointer, ReasonUnreadablePointer, ReasonEmptyPointer, ReasonMalformedPointer, ReasonMisspelt,
		ReasonNoVersion, ReasonBaseNotListed, ReasonExplicitlyNone, ReasonCurrentMalformed, ReasonTargetMalformed,
		ReasonBaseMismatch, ReasonNotHigher, ReasonCanaryMalformed, ReasonNoNodeID, ReasonNotInCanary, ReasonInstall,
		ReasonUnsafePointer, ReasonUnusableRoot, ReasonStateUnusable, ReasonUntrusted, ReasonReplayed,
		ReasonClockBeforeIssue, ReasonExpired, ReasonNotUnderSignature}
}

// Refuses tells whether a reason is for somebody to look at: a pointer is there, and it can't be followed, or not by
// this node. That it names nothing for this node is not that.
func (r Reason) Refuses() bool {
	switch r {
	case ReasonUnreadablePointer, ReasonMalformedPointer, ReasonMisspelt, ReasonCurrentMalformed, ReasonTargetMalformed,
		ReasonCanaryMalformed, ReasonNoNodeID, ReasonUnsafePointer, ReasonUnusableRoot, ReasonStateUnusable, ReasonUntrusted,
		ReasonReplayed, ReasonClockBeforeIssue, ReasonExpired, ReasonNotUnderSignature:
		return true
	default:
		return false
	}
}

// Decision is what a node does, and why. It is the document that is printed and
// logged.
type Decision struct {
	SchemaVersion int       `json:"schemaVersion"`
	Current       string    `json:"current"`
	Action        Action    `json:"action"`
	Target        *string   `json:"target"` // set only with install
	Scripts       Scripts   `json:"scripts"`
	Reason        Reason    `json:"reason"`
	Warnings      []Warning `json:"warnings"`
	// Canary says what came of the canary of this base; nil where there is none that matters to the node.
	Canary *Draw `json:"canary,omitempty"`
	// Trust says who vouches for the pointer; nil where nobody signed it.
	Trust *Provenance `json:"trust,omitempty"`
}

// Scripts is the decision about the program's scripts, by the same gate.
type Scripts struct {
	Action Action  `json:"action"`
	Target *string `json:"target"` // set only with install
}

const maxWarnings = 100

// Decide is DecideFor a node whose ID is not known.
func Decide(current string, pointer Pointer) Decision {
	return DecideFor(Node{Version: current}, pointer)
}

// DecideFor tells what a node does about a pointer.
func DecideFor(node Node, pointer Pointer) Decision {
	current := node.Version
	decision := none(current, "")
	decision.Warnings = pointer.reported()
	if pointer.provenance.Signed {
		trust := pointer.Provenance()
		decision.Trust = &trust
	}
	target, reason, draw := pointer.forNode(node)
	decision.Canary = draw
	if decision.Reason = reason; reason == ReasonInstall {
		decision.Action, decision.Target = Install, &target
	}
	if scripts, reason := gate(current, pointer.scripts); reason == ReasonInstall {
		decision.Scripts = Scripts{Action: Install, Target: &scripts}
	}
	return decision
}

// Installs tells whether there is anything to install, program or scripts.
func (d Decision) Installs() bool {
	return d.Action == Install || d.Scripts.Action == Install
}

// Wanted is the version of the program to run instead of the baked one, or "".
func (d Decision) Wanted() string {
	if d.Target == nil {
		return ""
	}
	return *d.Target
}

// forNode gives what a node takes: of what is for all, and of the canary of its base. Where what is for all says none,
// or something invalid, there is no canary either.
func (p Pointer) forNode(node Node) (target string, reason Reason, draw *Draw) {
	switch target, reason = p.forAll(node.Version); reason {
	case ReasonInstall, ReasonNotHigher, ReasonNoVersion, ReasonBaseNotListed, ReasonBaseMismatch:
		return p.throughCanary(node, target, reason)
	default:
		return target, reason, nil
	}
}

// forAll selects the entry that counts for all nodes like this one, and passes it through the
// gate. «hotfixes» with any entry replaces «version» completely, so that a pointer
// written for some bases can never reach the others.
func (p Pointer) forAll(current string) (target string, reason Reason) {
	_, misspeltMap := p.misspelt[fieldHotfixes]
	_, misspeltCanaries := p.misspelt[fieldCanaries]
	_, misspeltVersion := p.misspelt[fieldVersion]
	switch {
	case p.invalid != "":
		return "", ReasonMalformedPointer
	case misspeltMap, misspeltCanaries, misspeltVersion && len(p.hotfixes) == 0:
		return "", ReasonMisspelt
	case len(p.hotfixes) == 0:
		if p.version.Text == "" && p.version.Problem == "" {
			return "", ReasonNoVersion
		}
		return gate(current, p.version)
	}
	node, err := ParseVersion(current)
	if err != nil {
		return "", ReasonCurrentMalformed
	}
	if _, misspelt := p.misspeltBase(node.Base()); misspelt {
		return "", ReasonMisspelt
	}
	at, listed := p.byBase[node.Base()]
	if !listed {
		return "", ReasonBaseNotListed
	}
	entry := p.hotfixes[at]
	if entry.Text == "" && entry.Problem == "" {
		return "", ReasonExplicitlyNone
	}
	return gate(current, entry)
}

// gate lets a version pass that patches the node's own: the same base, a higher
// patch.
func gate(current string, entry Entry) (target string, reason Reason) {
	node, err := ParseVersion(current)
	if err != nil {
		return "", ReasonCurrentMalformed
	}
	if entry.Problem != "" {
		return "", ReasonTargetMalformed
	}
	wanted, err := ParseVersion(entry.Text)
	switch {
	case err != nil:
		return "", ReasonTargetMalformed
	case wanted.Base() != node.Base():
		return "", ReasonBaseMismatch
	case !wanted.Patches(node):
		return "", ReasonNotHigher
	}
	return wanted.String(), ReasonInstall
}

// reported are the warnings that a decision carries: a file full of errors does
// not fill the log of every node that reads it.
func (p Pointer) reported() []Warning {
	switch {
	case len(p.warnings) == 0:
		return []Warning{}
	case len(p.warnings) <= maxWarnings:
		return p.warnings
	}
	more := Warning{Field: "", Problem: "and more of the kind; «salve hotfix lint» lists them all"}
	return append(p.warnings[:maxWarnings:maxWarnings], more)
}
