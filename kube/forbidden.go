package kube

import (
	"fmt"
	"regexp"
	"strings"
)

// ForbiddenError words a refusal of the API server with the commands that show and grant the right.
type ForbiddenError struct{ err error }

func (e *ForbiddenError) Unwrap() error { return e.err }

// lacksRight is the API server's sentence about a missing right
// (https://github.com/kubernetes/apiserver/blob/master/pkg/endpoints/handlers/responsewriters/errors.go).
// What is taken from it into a command is made of harmless characters.
var lacksRight = regexp.MustCompile(`User "([A-Za-z0-9@._:/-]+)" cannot ([a-z]+) resource "([a-z0-9./-]+)" ` +
	`in API group "([a-z0-9.-]*)"(?: in the namespace "([a-z0-9-]+)"| at the cluster scope)`)

// Error is what a runner is told: nobody knows here who asks.
func (e *ForbiddenError) Error() string { return e.For(Need{}) }

// For names identity, action and scope, the commands that show and grant the right, and the roles to grant.
func (e *ForbiddenError) For(need Need) string {
	found := lacksRight.FindStringSubmatch(e.err.Error())
	if found == nil {
		return e.err.Error()
	}
	user, verb, resource, group, namespace := found[1], found[2], found[3], found[4], found[5]
	if group != "" {
		resource += "." + group
	}
	scope, within := "in the whole cluster", ""
	if namespace != "" {
		scope, within = "in namespace "+namespace, " -n "+namespace
	}
	subject := "--user " + user
	if account, is := strings.CutPrefix(user, "system:serviceaccount:"); is {
		subject = "--serviceaccount " + account
	}
	return fmt.Sprintf("forbidden: %s cannot %s %s %s (%v). hint: kubectl auth can-i %s %s%s --as %s; %s",
		user, verb, resource, scope, bounded(e.err.Error()), verb, resource, within, user,
		need.grant(subject, bindingName(user)))
}
