package azuresim_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
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
		Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Audience: server.URL, Endpoint: server.URL},
		},
	}}
	credential, err := azidentity.NewClientSecretCredential("7e4a4700-0000-4000-8000-000000000002", "somebody", "a secret",
		&azidentity.ClientSecretCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: true})
	if err != nil {
		t.Fatal(err)
	}
	clusters, err := armcontainerservice.NewManagedClustersClient(scenario.Subscription, credential,
		&arm.ClientOptions{ClientOptions: options})
	if err != nil {
		t.Fatal(err)
	}
	got, err := clusters.Get(t.Context(), scenario.ResourceGroup, scenario.Cluster, nil)
	if err != nil || *got.Name != scenario.Cluster {
		t.Fatalf("got %v, %v", got.Name, err)
	}
	world.Intercept(func(azuresim.Call) azuresim.Verdict { return azuresim.DropBefore })
	options.Retry.MaxRetries = -1
	clusters, err = armcontainerservice.NewManagedClustersClient(scenario.Subscription, credential,
		&arm.ClientOptions{ClientOptions: options})
	if err != nil {
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
		sets := "/subscriptions/" + a.scenario.Subscription + "/resourceGroups/" +
			*a.cluster(t).Properties.NodeResourceGroup +
			"/providers/Microsoft.Compute/virtualMachineScaleSets"
		var name string
		for _, page := range a.pages(t, sets+"?api-version=2024-07-01") {
			for _, set := range page {
				if set.Tags["aks-managed-poolName"] == "system" {
					name = set.Name
				}
			}
		}
		pages, empty, filled := a.pages(t, sets+"/"+name+"/networkInterfaces?api-version=2018-10-01"), 0, 0
		for _, page := range pages {
			for _, one := range page {
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
		if len(pages) != 3 || empty != 2 || filled != 3 {
			t.Fatalf("%d pages, %d interfaces without addresses, %d with; want 3, 2, 3", len(pages), empty, filled)
		}
	})
}

// listed is a resource of a list, as far as tests ask.
type listed struct {
	Name       string
	Tags       map[string]string
	Properties struct{ IPConfigurations []any }
}

// pages reads a list to its end.
func (a *azure) pages(t *testing.T, path string) (pages [][]listed) {
	t.Helper()
	for path != "" {
		status, body := a.raw(t, path)
		var page struct {
			Value    []listed
			NextLink string
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, status, body)
		}
		pages, path = append(pages, page.Value), strings.TrimPrefix(page.NextLink, "https://management.azure.com")
	}
	return pages
}
