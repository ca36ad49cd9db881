package stalewebhook

import (
	"strings"

	admission "k8s.io/api/admissionregistration/v1"

	"salve/runbook"
)

func exists(seen reading) runbook.Finding {
	if seen.Configuration == nil {
		return runbook.No("there is no such configuration")
	}
	return runbook.Yes("it has %d webhooks", len(seen.Configuration.Webhooks)).WithEvidence(seen.evidence())
}

// failsClosed holds when at least one webhook refuses what it is not asked about. A
// policy that is not set is Fail in admissionregistration.k8s.io/v1.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#failure-policy
func failsClosed(seen reading) runbook.Finding {
	if seen.Configuration == nil {
		return runbook.No("there is no such configuration")
	}
	for _, webhook := range seen.Configuration.Webhooks {
		if policy := webhook.FailurePolicy; policy == nil || *policy == admission.Fail {
			return runbook.Yes("webhook %s fails closed", webhook.Name)
		}
	}
	return runbook.No("all webhooks fail open: they keep nobody from writing")
}

// servicesGone is never overridden: a webhook that answers is somebody's policy.
func servicesGone(seen reading) runbook.Finding {
	switch {
	case seen.Configuration == nil:
		return runbook.No("there is no such configuration")
	case len(seen.Serving) > 0:
		return runbook.No("%s", strings.Join(seen.Serving, ", ")).NotOverridable()
	}
	return runbook.Yes("the services of all webhooks are gone")
}

// gone is the check: another configuration under the same name is somebody else's.
func (r *removal) gone(seen reading) runbook.Finding {
	if seen.Configuration == nil {
		return runbook.Yes("%s is gone", r.name)
	}
	return runbook.No("%s is there, with UID %s", r.name, seen.Configuration.UID)
}

func (s reading) evidence() runbook.Evidence {
	configuration := s.Configuration
	return runbook.NewEvidence("validatingwebhookconfigurations/"+configuration.Name,
		configuration.UID+"/"+configuration.ResourceVersion, s.At, len(configuration.Webhooks))
}
