package azuresim_test

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
)

func (a *azure) mergeTags(t *testing.T, tags map[string]string) {
	t.Helper()
	client, err := armresources.NewTagsClient(a.scenario.Subscription, a.world.Credential(), armOptions(a.world))
	if err != nil {
		t.Fatal(err)
	}
	patch := armresources.TagsPatchResource{
		Operation: to.Ptr(armresources.TagsPatchOperationMerge), Properties: &armresources.Tags{Tags: map[string]*string{}},
	}
	for key, value := range tags {
		patch.Properties.Tags[key] = to.Ptr(value)
	}
	if _, err := client.UpdateAtScope(t.Context(), *a.cluster(t).ID, patch, nil); err != nil {
		t.Fatal(err)
	}
}

func TestATagMergeSettlesACanceledCluster(t *testing.T) {
	inWorld(t, parsed(t, "clusterState: Canceled\n"), func(t *testing.T, a *azure) {
		a.mergeTags(t, map[string]string{"touched": "now"})
		if state := *a.cluster(t).Properties.ProvisioningState; state != "Updating" {
			t.Fatalf("the cluster is %s, want Updating", state)
		}
		time.Sleep(20 * time.Second)
		cluster := a.cluster(t)
		if *cluster.Properties.ProvisioningState != "Succeeded" || *cluster.Tags["touched"] != "now" ||
			*cluster.Tags["owner"] != "platform" {
			t.Fatalf("the cluster is %s with tags %v", *cluster.Properties.ProvisioningState, cluster.Tags)
		}
	})
}

func TestATagMergeDoesNotHideAFailedPool(t *testing.T) {
	inWorld(t, builtIn(t, "wedged"), func(t *testing.T, a *azure) {
		a.mergeTags(t, map[string]string{"touched": "now"})
		time.Sleep(time.Minute)
		if state := *a.cluster(t).Properties.ProvisioningState; state != "Failed" {
			t.Fatalf("the cluster is %s, want Failed", state)
		}
	})
}
