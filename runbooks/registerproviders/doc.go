// Package registerproviders is the runbook register-providers: it registers a subscription for resource providers and
// for preview features of theirs, and waits until that is done. Pipelines run it for their ProviderFeatureRegistration
// and ResourceProviderRegistration steps.
//
// It never ends a registration, never registers what is registered, and never calls anything registered that ARM does
// not show as such.
package registerproviders
