package azuresim_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
)

// TestClientsOfTheSDKForGo: the calls of its own samples, unaltered. Azure's SDK for JavaScript is make
// client-azure-js.
func TestClientsOfTheSDKForGo(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		ctx, group, cluster := t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster
		factory, err := armcontainerservice.NewClientFactory(a.scenario.Subscription, a.world.Credential(),
			armOptions(a.world))
		if err != nil {
			t.Fatal(err)
		}
		machines := factory.NewMachinesClient()
		resources, err := armresources.NewClientFactory(a.scenario.Subscription, a.world.Credential(), armOptions(a.world))
		if err != nil {
			t.Fatal(err)
		}
		scope := *a.cluster(t).ID
		calls := []struct {
			name string
			call func() error
		}{
			{"clusters: list", func() error { return eachPage(t, a.clusters.NewListPager(nil)) }},
			{"clusters: list by resource group", func() error {
				return eachPage(t, a.clusters.NewListByResourceGroupPager(group, nil))
			}},
			{"clusters: get", func() error { _, err := a.clusters.Get(ctx, group, cluster, nil); return err }},
			{"clusters: upgrade profile", func() error {
				_, err := a.clusters.GetUpgradeProfile(ctx, group, cluster, nil)
				return err
			}},
			{"clusters: Kubernetes versions", func() error {
				_, err := a.clusters.ListKubernetesVersions(ctx, a.scenario.Location, nil)
				return err
			}},
			{"clusters: user credentials", func() error {
				_, err := a.clusters.ListClusterUserCredentials(ctx, group, cluster, nil)
				return err
			}},
			{"clusters: monitoring credentials", func() error {
				_, err := a.clusters.ListClusterMonitoringUserCredentials(ctx, group, cluster, nil)
				return err
			}},
			{"clusters: access profile", func() error {
				_, err := a.clusters.GetAccessProfile(ctx, group, cluster, "clusterUser", nil)
				return err
			}},
			{"clusters: update tags", func() error {
				poller, err := a.clusters.BeginUpdateTags(ctx, group, cluster,
					armcontainerservice.TagsObject{Tags: map[string]*string{"a": to.Ptr("b")}}, nil)
				return ended(t, poller, err)
			}},
			{"clusters: create or update", func() error {
				poller, err := a.clusters.BeginCreateOrUpdate(ctx, group, cluster, armcontainerservice.ManagedCluster{
					Location: to.Ptr(a.scenario.Location), Tags: map[string]*string{"c": to.Ptr("d")},
				}, nil)
				return ended(t, poller, err)
			}},
			{"clusters: abort", func() error {
				poller, err := a.clusters.BeginAbortLatestOperation(ctx, group, cluster, nil)
				return ended(t, poller, err)
			}},
			{"pools: list", func() error { return eachPage(t, a.pools.NewListPager(group, cluster, nil)) }},
			{"pools: available versions", func() error {
				_, err := a.pools.GetAvailableAgentPoolVersions(ctx, group, cluster, nil)
				return err
			}},
			{"pools: upgrade profile", func() error {
				_, err := a.pools.GetUpgradeProfile(ctx, group, cluster, "system", nil)
				return err
			}},
			{"pools: create", func() error {
				poller, err := a.put(ctx, "extra", systemPool(1), nil)
				return ended(t, poller, err)
			}},
			{"pools: abort", func() error {
				if _, err := a.put(ctx, "extra", systemPool(2), nil); err != nil {
					return err
				}
				poller, err := a.pools.BeginAbortLatestOperation(ctx, group, cluster, "extra", nil)
				return ended(t, poller, err)
			}},
			{"machines: list", func() error { return eachPage(t, machines.NewListPager(group, cluster, "system", nil)) }},
			{"pools: delete", func() error { return a.deletion(t, "extra", to.Ptr(true)) }},
			{"groups: list", func() error { return eachPage(t, resources.NewResourceGroupsClient().NewListPager(nil)) }},
			{"groups: exist", func() error {
				_, err := resources.NewResourceGroupsClient().CheckExistence(ctx, group, nil)
				return err
			}},
			{"groups: update", func() error {
				_, err := resources.NewResourceGroupsClient().Update(ctx, group,
					armresources.ResourceGroupPatchable{Tags: map[string]*string{"a": to.Ptr("b")}}, nil)
				return err
			}},
			{"resources: list", func() error { return eachPage(t, resources.NewClient().NewListPager(nil)) }},
			{"resources: get by ID", func() error {
				_, err := resources.NewClient().GetByID(ctx, scope, "2025-02-01", nil)
				return err
			}},
			{"tags: put", func() error {
				_, err := resources.NewTagsClient().CreateOrUpdateAtScope(ctx, scope, armresources.TagsResource{
					Properties: &armresources.Tags{Tags: map[string]*string{"only": to.Ptr("this")}},
				}, nil)
				return err
			}},
			{"deployments: create or update", func() error {
				d := resources.NewDeploymentsClient()
				poller, err := d.BeginCreateOrUpdate(ctx, group, "one", incremental(t, vault, `{"name": {"value": "kv"}}`), nil)
				return ended(t, poller, err)
			}},
			{"deployments: list", func() error {
				return eachPage(t, resources.NewDeploymentsClient().NewListByResourceGroupPager(group, nil))
			}},
			{"deployments: delete", func() error {
				poller, err := resources.NewDeploymentsClient().BeginDelete(ctx, group, "one", nil)
				return ended(t, poller, err)
			}},
		}
		for _, row := range calls {
			if err := row.call(); err != nil {
				t.Errorf("%s: %v", row.name, err)
			}
			time.Sleep(time.Minute)
		}
		cluster1 := a.cluster(t)
		if len(cluster1.Tags) != 1 || *cluster1.Tags["only"] != "this" {
			t.Errorf("tags %v", cluster1.Tags)
		}
		_, err = a.clusters.ListClusterAdminCredentials(ctx, group, cluster, nil)
		wantError(t, err, http.StatusBadRequest, "BadRequest")
		_, err = a.clusters.BeginDelete(ctx, group, cluster, nil)
		wantError(t, err, http.StatusNotImplemented, "NotImplemented")
	})
}

func ended[T any](t *testing.T, poller *runtime.Poller[T], err error) error {
	t.Helper()
	if err != nil {
		return err
	}
	_, err = poller.PollUntilDone(t.Context(), nil)
	return err
}

func eachPage[T any](t *testing.T, pager *runtime.Pager[T]) error {
	t.Helper()
	for pager.More() {
		if _, err := pager.NextPage(t.Context()); err != nil {
			return err
		}
	}
	return nil
}

// TestKeptResourcesCanBeWrittenByAnybody: a resource that no model stands behind is kept, listed, tagged and deleted.
func TestKeptResourcesCanBeWrittenByAnybody(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		const version, vault = "?api-version=2024-11-01", "G/providers/Microsoft.KeyVault/vaults/kv"
		for i, row := range []struct {
			method, path, body string
			status             int
			code               string
		}{
			{"PUT", vault + "/secrets/s" + version, `{}`, 404, "ParentResourceNotFound"},
			{"PUT", vault + version, `{"location": "westeurope", "tags": {"a": "b"}, "properties": {"x": 1, "y": 2}}`, 201, ""},
			{"PUT", vault + "/secrets/s" + version, `{"properties": {}}`, 201, ""},
			{"PATCH", vault + version, `{"properties": {"y": 3}}`, 200, ""},
			{"HEAD", vault + version, "", 204, ""},
			{"GET", vault + version, "", 200, ""},
			{"PATCH", vault + "/providers/Microsoft.Resources/tags/default" + armVersion,
				`{"operation": "Merge", "properties": {"tags": {"c": "d"}}}`, 200, ""},
			{"PATCH", vault + "/providers/Microsoft.Resources/tags/default" + armVersion,
				`{"operation": "Add", "properties": {"tags": {}}}`, 400, "InvalidTagsOperation"},
			{"DELETE", vault + version, "", 200, ""},
			{"DELETE", vault + version, "", 204, ""},
			{"GET", vault + "/secrets/s" + version, "", 404, "ResourceNotFound"},
		} {
			got := a.call(t, row.method, row.path, row.body)
			if got.status != row.status || got.code() != row.code {
				t.Errorf("%d: %s %s: %d %s, want %d %s", i, row.method, row.path, got.status, got.text, row.status, row.code)
			}
			if i == 6 {
				properties, _ := got.body["properties"].(map[string]any)
				if tags, _ := properties["tags"].(map[string]any); len(tags) != 2 {
					t.Errorf("tags %v", tags)
				}
				list := a.call(t, "GET", "G/resources"+armVersion+"&$filter=tagName%20eq%20'c'%20and%20tagValue%20eq%20'd'", "")
				if !slices.Equal(list.names(), []string{"kv"}) {
					t.Errorf("by tag: %v", list.names())
				}
				kept := a.call(t, "GET", vault+version, "")
				if p, _ := kept.body["properties"].(map[string]any); p["x"] == nil || p["y"] != 3.0 {
					t.Errorf("properties %v", p)
				}
			}
		}
	})
}
