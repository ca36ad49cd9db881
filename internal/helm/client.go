package helm

import (
	"context"
	"log/slog"

	"helm.sh/helm/v4/pkg/action"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"salve/kube"
)

// Client reaches the releases of one namespace.
type Client struct {
	Cluster   *kube.Cluster
	Namespace string
}

// configuration is Helm's, for one call: its requests are made within ctx.
func (c *Client) configuration(ctx context.Context) (*action.Configuration, error) {
	config, err := c.Cluster.Within(ctx)
	if err != nil {
		return nil, err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	cached := memory.NewMemCacheClient(client)
	// Helm's log tells of values.
	made := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	err = made.Init(&getter{
		config: config, discovery: cached, mapper: restmapper.NewDeferredDiscoveryRESTMapper(cached), namespace: c.Namespace,
	}, c.Namespace, "secret")
	return made, err
}

// getter hands Helm the ways to the cluster; there is no kubeconfig that it could read.
type getter struct {
	config    *rest.Config
	discovery discovery.CachedDiscoveryInterface
	mapper    meta.RESTMapper
	namespace string
}

// ToRESTConfig is a copy: Helm changes it.
func (g *getter) ToRESTConfig() (*rest.Config, error) { return rest.CopyConfig(g.config), nil }

// ToDiscoveryClient is one for the whole call.
func (g *getter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return g.discovery, nil
}

// ToRESTMapper is one for the whole call.
func (g *getter) ToRESTMapper() (meta.RESTMapper, error) { return g.mapper, nil }

// ToRawKubeConfigLoader says the namespace, and nothing else.
func (g *getter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), &clientcmd.ConfigOverrides{
		Context: clientcmdapi.Context{Namespace: g.namespace},
	})
}
