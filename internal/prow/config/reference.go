package config

import "salve/internal/diagnostic"

// ObjectKind is a kind of object that a pod can't start without.
type ObjectKind string

// The kinds of objects.
const (
	Secret         ObjectKind = "Secret"
	ConfigMap      ObjectKind = "ConfigMap"
	ServiceAccount ObjectKind = "ServiceAccount"
)

// Reference is an object that a job's pod names. It must be in the pod namespace of
// the job's cluster.
type Reference struct {
	Kind ObjectKind
	Name string
	// Key is the one that is asked of a Secret or ConfigMap; empty for all.
	Key string
	// Optional says that the pod starts without it.
	Optional bool
	// From says what names it, such as volume creds or env TOKEN.
	From     string
	Position diagnostic.Position
}

// References are the objects that the job's pod needs, those of the decoration
// included: the ones a utility container mounts.
func (j *Job) References() []Reference {
	var references []Reference
	account := false
	if j.Pod != nil {
		references = append(references, j.Pod.References...)
		account = j.Pod.ServiceAccount.Value != ""
		if account {
			references = append(references, Reference{Kind: ServiceAccount, Name: j.Pod.ServiceAccount.Value,
				From: "serviceAccountName", Position: j.Pod.ServiceAccount.Position})
		}
	}
	if !j.Decorate || j.Decoration == nil {
		return references
	}
	clones := j.Kind != Periodic || len(j.ExtraRefs) > 0
	return append(references, j.Decoration.references(clones, account)...)
}
