package cli

import (
	"errors"
	"net"

	"k8s.io/apimachinery/pkg/api/meta"

	"salve/azure"
	"salve/internal/apierr"
)

// orAbsent is the error of a step that was asked what it would do: of class Missing where all that is wrong is that
// something isn't there, so that steps before it may yet make it. That is told from the error's type alone.
func orAbsent(err error) error {
	if azure.LacksResource(err) || meta.IsNoMatchError(err) {
		return &apierr.Error{Class: apierr.Missing, Err: err}
	}
	return err
}

// orAbsent is that of what asks a registry. One of the cloud has no address before it is made.
func (r registryAccess) orAbsent(err error, host string) error {
	var lookup *net.DNSError
	if !errors.As(err, &lookup) || !lookup.IsNotFound || lookup.Name != host {
		return err
	}
	if azure, _, broken := r.azure(); broken != nil || !azure.Owns(host) {
		return err
	}
	return &apierr.Error{Class: apierr.Missing, Err: err}
}
