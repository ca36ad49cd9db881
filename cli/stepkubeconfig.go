package cli

import (
	"context"

	"salve/azure"
	"salve/internal/clock"
	"salve/internal/pipeline"
	"salve/kube"
)

// kubeconfig leads to the cluster that a Shell step names, in the step's resource group, as whoever runs this.
func (d *deployAction) kubeconfig(ctx context.Context, step *pipeline.Step) ([]byte, error) {
	subscription, err := d.subscription(ctx, step.Group.Subscription.Value)
	if err != nil {
		return nil, err
	}
	credential, options, err := d.cloud.credential()
	if err != nil {
		return nil, err
	}
	transport, err := d.cloud.transport()
	if err != nil {
		return nil, err
	}
	client, err := azure.New(azure.Options{
		Subscription: subscription, Credential: credential, Cloud: options.Cloud, Transport: transport, Clock: clock.Real{},
	})
	if err != nil {
		return nil, err
	}
	given, err := client.UserKubeconfig(ctx, step.Group.ResourceGroup.Value, step.Shell.AKSCluster.Value)
	if err != nil {
		return nil, err
	}
	return kube.Standalone(ctx, given, credential)
}
