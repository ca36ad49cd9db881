package cli

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"salve/azure"
	"salve/internal/clock"
	"salve/kube"
	"salve/runbooks/recreatepool"
)

// connect reaches real Azure and the cluster in it. It makes no call.
func connect(flags cloudFlags, in recreatepool.Inputs) (recreatepool.World, error) {
	credential, options, err := flags.credential()
	if err != nil {
		return recreatepool.World{}, err
	}
	transport, err := flags.transport()
	if err != nil {
		return recreatepool.World{}, err
	}
	client, err := azure.New(azure.Options{
		Subscription: in.Subscription, Credential: credential, Cloud: options.Cloud,
		Transport: transport, Clock: clock.Real{},
	})
	if err != nil {
		return recreatepool.World{}, err
	}
	cluster := &lazyCluster{
		client: client, credential: credential, clock: clock.Real{}, in: in, own: flags.kubernetesFlags,
	}
	return recreatepool.World{Azure: client, Kubernetes: cluster.get, Clock: clock.Real{}}, nil
}

// credential is whoever runs this, as the Azure SDK finds that out, and how the cloud is reached. It makes no call.
func (c cloudFlags) credential() (azcore.TokenCredential, policy.ClientOptions, error) {
	options := policy.ClientOptions{Cloud: c.configuration()}
	transport, err := c.transport()
	if err != nil {
		return nil, options, err
	}
	service := &azure.TokenService{}
	if transport != nil {
		service.Base = transport
		options.Transport = &http.Client{Transport: transport}
	}
	asking := options
	asking.Transport = &http.Client{Transport: service}
	credential, err := azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{
		ClientOptions: asking, DisableInstanceDiscovery: c.endpoint != "",
	})
	if err != nil {
		return nil, options, fmt.Errorf("finding credentials for Azure: %w", err)
	}
	return azure.Credential(credential, service), options, nil
}

// lazyCluster connects to the cluster's API when it is first asked for, and once.
type lazyCluster struct {
	client     *azure.Client
	credential azcore.TokenCredential
	clock      clock.Clock
	in         recreatepool.Inputs
	// own is the way of the user, used instead of asking ARM; may be empty.
	own kubernetesFlags

	mu        sync.Mutex
	connected *kube.Cluster
}

func (l *lazyCluster) get(ctx context.Context) (*kube.Cluster, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.connected != nil {
		return l.connected, nil
	}
	if l.own.kubeconfig != "" {
		var err error
		l.connected, err = l.own.openCluster()
		return l.connected, err
	}
	kubeconfig, err := l.client.UserKubeconfig(ctx, l.in.ResourceGroup, l.in.Cluster)
	if err != nil {
		return nil, err
	}
	l.connected, err = kube.Connect(kubeconfig, l.credential, l.clock)
	return l.connected, err
}
