package kube

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"salve/internal/apierr"
	"salve/internal/permit"
)

// auditHeader carries the permit's ID into the API server's audit log
// (https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/, auditID).
const auditHeader = "Audit-ID"

// guarded is a copy of a config whose requests pass two guards before they leave: they
// go to the config's own server, and what changes something has a permit or is exempt.
func guarded(config *rest.Config, own []exemption) (*rest.Config, error) {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, apierr.New(apierr.Terminal, "invalid kubeconfig: server %q: %w", config.Host, err)
	}
	exempt := exemptions(strings.TrimSuffix(server.Path, "/"), slices.Concat(exemptForAll(), own))
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &sameServer{server: server, next: &permit.Transport{
			Base: next, Header: auditHeader, Exempt: exempt,
		}}
	})
	return config, nil
}

// JournalClient makes the client of the journal and its leases in a cluster, which may
// write these without a permit. Nobody else may have it.
func JournalClient(c *Cluster, access permit.JournalAccess) (kubernetes.Interface, error) {
	if len(access.Namespaces()) == 0 || slices.Contains(access.Namespaces(), "") {
		return nil, apierr.New(apierr.Terminal, "invalid journal access: no namespace")
	}
	return c.exempted("journal", exemptForJournal(access.Namespaces()...))
}

// EventClient makes a client of a cluster that may create Events in one namespace without
// a permit, and change nothing else. Events say what was seen: nothing acts on them that
// Kubernetes comes with.
func EventClient(c *Cluster, access permit.EventAccess) (kubernetes.Interface, error) {
	if access.Namespace() == "" {
		return nil, apierr.New(apierr.Terminal, "invalid access to Events: no namespace")
	}
	return c.exempted("Events", exemptForEvents(access.Namespace()))
}

// ApprovalClient makes a client of a cluster that may create CertificateSigningRequests without
// a permit, and change nothing else. What they ask for, nobody signs: they carry an approval.
func ApprovalClient(c *Cluster, access permit.ApprovalAccess) (kubernetes.Interface, error) {
	if !access.Granted() {
		return nil, apierr.New(apierr.Terminal, "invalid access to approvals: not granted")
	}
	return c.exempted("approvals", exemptForApprovals())
}

// exempted makes a client with exemptions of its own. That of an embedded cluster, which
// has no wire, needs none.
func (c *Cluster) exempted(what string, own []exemption) (kubernetes.Interface, error) {
	if c.config == nil {
		return c.Client, nil
	}
	config, err := guarded(c.config, own)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, apierr.New(apierr.Terminal, "making the client of the %s: %w", what, err)
	}
	return client, nil
}

// sameServer refuses requests to any other server than the kubeconfig's, as a redirect
// can ask for: they would carry its credentials. It also asks for a permit for what
// runs commands or reaches programs behind the API server, by whatever method.
type sameServer struct {
	server *url.URL
	next   http.RoundTripper
}

func (s *sameServer) RoundTrip(request *http.Request) (*http.Response, error) {
	var err error
	switch {
	case request.URL.Scheme != s.server.Scheme || request.URL.Host != s.server.Host:
		err = apierr.New(apierr.Terminal, "unexpected server: %s://%s, the kubeconfig's is %s://%s",
			bounded(request.URL.Scheme), bounded(request.URL.Host), s.server.Scheme, s.server.Host)
	case isConnect(request.URL.Path):
		if err = permit.FromContext(request.Context()).Authorize(request.Context()); err != nil {
			err = fmt.Errorf("%s %s: %w", request.Method, bounded(request.URL.Path), err)
		}
	}
	if err == nil {
		return s.next.RoundTrip(request)
	}
	if request.Body != nil {
		_ = request.Body.Close()
	}
	return nil, err
}

// WrappedRoundTripper lets client-go find the transport below.
func (s *sameServer) WrappedRoundTripper() http.RoundTripper { return s.next }

// isConnect tells whether a path reaches into a pod, a service or a node. That it
// could also be the name of an object costs a permit at most.
func isConnect(path string) bool {
	for _, segment := range strings.Split(path, "/") {
		if slices.Contains([]string{"exec", "attach", "portforward", "proxy"}, segment) {
			return true
		}
	}
	return false
}

// apiPath gives the segments of a path below the server's own; nil for one that could
// be read in more than one way.
func apiPath(request *http.Request, prefix string) []string {
	whole := request.URL.Path
	rest, below := strings.CutPrefix(whole, prefix+"/")
	if !below || path.Clean(whole) != whole || request.URL.EscapedPath() != whole {
		return nil
	}
	return strings.Split(rest, "/")
}
