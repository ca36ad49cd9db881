package azuresim_test

import (
	"net/http/httptest"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"k8s.io/client-go/tools/clientcmd"

	"salve/internal/azuresim"
)

func TestAClientOverHTTPSLogsInWithASecret(t *testing.T) {
	scenario := builtIn(t, "healthy")
	world, err := azuresim.New(scenario, azuresim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer world.Close()
	server := httptest.NewTLSServer(world)
	defer server.Close()
	options := policy.ClientOptions{Transport: server.Client(), Cloud: cloud.Configuration{
		ActiveDirectoryAuthorityHost: server.URL,
		Services:                     map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Audience: server.URL, Endpoint: server.URL}},
	}}
	credential, err := azidentity.NewClientSecretCredential("7e4a4700-0000-4000-8000-000000000002", "somebody", "a secret", &azidentity.ClientSecretCredentialOptions{
		ClientOptions: options, DisableInstanceDiscovery: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	clusters, err := armcontainerservice.NewManagedClustersClient(scenario.Subscription, credential, &arm.ClientOptions{ClientOptions: options})
	if err != nil {
		t.Fatal(err)
	}
	got, err := clusters.Get(t.Context(), scenario.ResourceGroup, scenario.Cluster, nil)
	if err != nil || *got.Name != scenario.Cluster {
		t.Fatalf("got %v, %v", got.Name, err)
	}
	world.Intercept(func(azuresim.Call) azuresim.Fate { return azuresim.DropBefore })
	options.Retry.MaxRetries = -1
	if clusters, err = armcontainerservice.NewManagedClustersClient(scenario.Subscription, credential, &arm.ClientOptions{ClientOptions: options}); err != nil {
		t.Fatal(err)
	}
	if _, err := clusters.Get(t.Context(), scenario.ResourceGroup, scenario.Cluster, nil); err == nil {
		t.Fatal("a dropped call was answered")
	}
}

func TestUserCredentials(t *testing.T) {
	for text, exec := range map[string]bool{"entra: true\n": true, "entra: false\n": false} {
		inWorld(t, parsed(t, text), func(t *testing.T, a *azure) {
			got, err := a.clusters.ListClusterUserCredentials(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, nil)
			if err != nil {
				t.Fatal(err)
			}
			config, err := clientcmd.Load(got.Kubeconfigs[0].Value)
			if err != nil {
				t.Fatal(err)
			}
			user := config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo]
			if (user.Exec != nil && user.Exec.Command == "kubelogin") != exec || (len(user.ClientCertificateData) > 0) == exec {
				t.Fatalf("user %+v", user)
			}
		})
	}
}

func TestScaleSetsAreFoundByTagAndTheirInterfacesByPage(t *testing.T) {
	scenario := builtIn(t, "wedged")
	scenario.PageSize = 2
	inWorld(t, scenario, func(t *testing.T, a *azure) {
		sets, err := armcompute.NewVirtualMachineScaleSetsClient(a.scenario.Subscription, a.world.Credential(), armOptions(a.world))
		if err != nil {
			t.Fatal(err)
		}
		interfaces, err := armnetwork.NewInterfacesClient(a.scenario.Subscription, a.world.Credential(), armOptions(a.world))
		if err != nil {
			t.Fatal(err)
		}
		group := *a.cluster(t).Properties.NodeResourceGroup
		var name string
		for pager := sets.NewListPager(group, nil); pager.More(); {
			page, err := pager.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, set := range page.Value {
				if *set.Tags["aks-managed-poolName"] == "system" {
					name = *set.Name
				}
			}
		}
		pages, empty, filled := 0, 0, 0
		for pager := interfaces.NewListVirtualMachineScaleSetNetworkInterfacesPager(group, name, nil); pager.More(); pages++ {
			page, err := pager.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range page.Value {
				switch {
				case one.Properties.IPConfigurations == nil:
					t.Fatal("absent ipConfigurations, want an empty array")
				case len(one.Properties.IPConfigurations) == 0:
					empty++
				default:
					filled++
				}
			}
		}
		if pages != 3 || empty != 2 || filled != 3 {
			t.Fatalf("%d pages, %d interfaces without addresses, %d with; want 3, 2, 3", pages, empty, filled)
		}
	})
}
