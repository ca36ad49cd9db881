package kube

import (
	"fmt"
	"strings"
)

// Role is what somebody does with Salve in a cluster, by which the rights differ that they need.
type Role string

// The roles. The zero value is a runner's.
const (
	Runner   Role = ""
	Approver Role = "approver"
	Reader   Role = "reader"
	// Observed is what a runner needs besides to write Events.
	Observed Role = "observed"
)

// Need is the role that somebody needs, and the namespace of the journal that they need it in.
type Need struct {
	Role      Role
	Namespace string
}

// grant are the commands by which an administrator gives a subject the role. As are the flags of kubectl that name it,
// and name what tells its bindings from those of others.
func (n Need) grant(as, name string) string {
	bind := func(role string) string {
		return fmt.Sprintf("kubectl -n %s create rolebinding %s-%s --clusterrole=%s %s", n.Namespace, role, name, role, as)
	}
	switch n.Role {
	case Approver:
		return fmt.Sprintf("kubectl apply -f deploy/approver-role.yaml has the roles of an approver; %s; "+
			"kubectl create clusterrolebinding salve-approver-requests-%s --clusterrole=salve-approver-requests %s",
			bind("salve-approver"), name, as)
	case Reader:
		return fmt.Sprintf("kubectl apply -f deploy/reader-role.yaml has the role of a reader; %s", bind("salve-reader"))
	case Observed:
		return fmt.Sprintf("deploy/events-role.yaml has the Role, and kubectl -n %s create rolebinding salve-events "+
			"--role=salve-events %s grants it", n.Namespace, as)
	case Runner:
	}
	return fmt.Sprintf("kubectl apply -f deploy/cluster-role.yaml has the ClusterRole, and "+
		"kubectl create clusterrolebinding salve --clusterrole salve %s grants it (other runbooks: deploy/*-role.yaml)", as)
}

// Files are where the rights stand that the role needs.
func (n Need) Files() string {
	switch n.Role {
	case Approver, Reader:
		return fmt.Sprintf("deploy/%s-role.yaml lists the rights that %s needs", n.Role, n.Role.article())
	case Runner, Observed:
	}
	return "deploy/azure-role.json and deploy/cluster-role.yaml list the rights that Salve needs"
}

func (r Role) article() string {
	if r == Approver {
		return "an approver"
	}
	return "a reader"
}

// bindingName is a user's name as the end of a binding's.
func bindingName(user string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, strings.ToLower(user)), "-")
}
