package kube

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/internal/reach"
)

// serverScope is the scope of tokens for the API servers of AKS clusters with Entra
// ID: AKS's server application, the same in every tenant
// (https://azure.github.io/kubelogin/concepts/aks.html).
const serverScope = "6dae42f8-4368-4678-94ff-3960e28e3630/.default"

const (
	// unlimited is our own limit on requests a second: none. client-go's default of
	// 5, or any other number, would be a guess at what the API server can do. What is
	// bounded is how many requests are in flight at once (DrainOptions.Parallel,
	// maxParallelReads); how fast they are answered is for the server's priority and
	// fairness to say, and its Retry-After is honoured.
	unlimited = -1
	// encoding is what we send to the API server and prefer to receive; JSON costs
	// both more. Its answers may be JSON all the same, as those of proxies are.
	encoding          = "application/vnd.kubernetes.protobuf"
	acceptedEncodings = encoding + ",application/json"
)

// Connect makes the clients of a cluster from a kubeconfig that AKS hands out. Its user
// is an exec plugin (kubelogin) when the cluster has Entra ID: it is replaced by tokens
// from the credential, which refreshes them. Client certificates are used as they are. A
// server that TLS does not prove to be the cluster gets neither.
func Connect(kubeconfig []byte, credential azcore.TokenCredential, clk clock.Clock) (*Cluster, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, apierr.New(apierr.Terminal, "invalid kubeconfig of the cluster: %w", err)
	}
	server, err := url.Parse(config.Host)
	if err != nil || server.Scheme != "https" || config.Insecure {
		return nil, apierr.New(apierr.Terminal, "invalid kubeconfig of the cluster: server %q is not verified by TLS",
			bounded(config.Host))
	}
	if config.ExecProvider != nil || config.AuthProvider != nil {
		if credential == nil {
			return nil, apierr.New(apierr.Denied, "no credential: the cluster requires a token of Entra ID")
		}
		config.ExecProvider, config.AuthProvider = nil, nil
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return &bearer{next: next, credential: credential}
		})
	}
	return ForConfig(config, clk)
}

// Open makes the clients of a cluster from the user's own kubeconfig file, and from a
// context of it where one is named. Its plugins are run as kubectl runs them. Several files, separated as in PATH, are
// merged as kubectl merges those of $KUBECONFIG.
func Open(file, context string, clk clock.Clock) (*Cluster, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: file}
	if files := filepath.SplitList(file); len(files) > 1 {
		rules = &clientcmd.ClientConfigLoadingRules{Precedence: files}
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: context}).ClientConfig()
	if err != nil {
		return nil, apierr.New(apierr.Terminal, "invalid kubeconfig %q: %w", file, err)
	}
	return ForConfig(config, clk)
}

// ForConfig makes the clients of a cluster, real or embedded, which share their
// connections. Every client that this package makes of a rest.Config is made here or by
// JournalClient, and has the transports of guarded below it. The config is changed.
func ForConfig(config *rest.Config, clk clock.Clock) (*Cluster, error) {
	config.UserAgent = "salve"
	config.QPS = unlimited
	config.WarningHandler = rest.NoWarnings{} // they are for people who write manifests
	config.ContentType, config.AcceptContentTypes = encoding, acceptedEncodings
	server := &reach.Server{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &reach.Transport{Base: next, Server: server}
	})
	cluster := &Cluster{Clock: clk, config: rest.CopyConfig(config)}
	guarded, err := guarded(config, nil)
	if err != nil {
		return nil, err
	}
	connections, err := rest.HTTPClientFor(guarded)
	if err == nil {
		cluster.Client, err = kubernetes.NewForConfigAndClient(guarded, connections)
	}
	if err == nil {
		cluster.Dynamic, err = dynamic.NewForConfigAndClient(guarded, connections)
	}
	if err == nil {
		cluster.Metadata, err = metadata.NewForConfigAndClient(guarded, connections)
	}
	if err != nil {
		return nil, apierr.New(apierr.Terminal, "making the cluster's clients: %w", err)
	}
	return cluster, nil
}

// bearer adds a token to each request. The credential caches and refreshes it.
type bearer struct {
	next       http.RoundTripper
	credential azcore.TokenCredential
}

// RoundTrip sends a copy of the request with the token.
func (b *bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	token, err := b.credential.GetToken(request.Context(), policy.TokenRequestOptions{Scopes: []string{serverScope}})
	if err != nil {
		return nil, fmt.Errorf("getting a token for the cluster's API: %w", err)
	}
	copied := request.Clone(request.Context())
	copied.Header.Set("Authorization", "Bearer "+token.Token)
	return b.next.RoundTrip(copied)
}
