// Package csr carries approvals in a Kubernetes cluster, each in a CertificateSigningRequest that nobody signs.
//
// It is the one built-in object on which the API server itself writes who made it: spec.username, uid, groups and extra
// are taken from the request at the creation, whatever the client wrote there, and spec never changes afterwards
// (https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/registry/certificates/certificates/strategy.go,
// PrepareForCreate and PrepareForUpdate). Whether that identity may approve is then asked of the API server by a
// SubjectAccessReview, at the time of use.
//
// It must never take an identity from metadata, which others may write, never from the statement, and never call an
// approval good that could not be reviewed.
package csr
