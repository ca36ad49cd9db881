package azuresim

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// Client IDs that AKS writes into the kubeconfig of a cluster with Entra ID.
const (
	aksServerApplication = "6dae42f8-4368-4678-94ff-3960e28e3630"
	aksClientApplication = "80faf920-1908-4b52-b5ef-a8e7bedfc67a"
)

func listUserCredential(w *World, _ *request) answer { return w.credentialsOf("clusterUser") }

// listAdminCredential: a cluster with Entra ID of the embedded Azure has no local accounts.
// https://github.com/Azure/azure-sdk-for-java/issues/27704
func listAdminCredential(w *World, _ *request) answer {
	if why := w.noLocalAccounts(); why != nil {
		return why.ofAKS()
	}
	return w.credentialsOf("clusterAdmin")
}

func (w *World) noLocalAccounts() *refusal {
	if !w.scenario.Entra {
		return nil
	}
	return refuse(http.StatusBadRequest, "BadRequest",
		"Getting static credential is not allowed because this cluster is set to disable local accounts.")
}

func (w *World) credentialsOf(user string) answer {
	return ok(map[string]any{
		"kubeconfigs": []any{map[string]any{"name": user, "value": w.encodedKubeconfig()}},
	})
}

// listAccessProfile is an older call for the same.
func listAccessProfile(w *World, asked *request) answer {
	name := asked.parameter("profile")
	switch why := w.noLocalAccounts(); {
	case !strings.EqualFold(name, "clusterUser") && !strings.EqualFold(name, "clusterAdmin"):
		return aksError(http.StatusBadRequest, "InvalidParameter",
			"The value of parameter accessProfileName is invalid: clusterUser or clusterAdmin is expected.")
	case strings.EqualFold(name, "clusterAdmin") && why != nil:
		return why.ofAKS()
	}
	return ok(map[string]any{
		"id": w.model.clusterID() + "/accessProfiles/" + name, "name": name, "location": w.scenario.Location,
		"type":       managedClusters + "/accessProfiles",
		"properties": map[string]any{"kubeConfig": w.encodedKubeconfig()},
	})
}

func (w *World) encodedKubeconfig() string {
	text := w.kubeconfig
	if text == nil {
		var err error
		if text, err = yaml.Marshal(w.madeUpKubeconfig()); err != nil {
			panic("azuresim: encoding a kubeconfig: " + err.Error()) // it is made of maps and texts
		}
	}
	return base64.StdEncoding.EncodeToString(text)
}

// hostOf is the host of a kubeconfig's server: AKS names it in the cluster's fqdn.
func hostOf(kubeconfig []byte) (string, error) {
	if kubeconfig == nil {
		return "", nil
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return "", fmt.Errorf("reading the given kubeconfig: %w", err)
	}
	server, err := url.Parse(config.Host)
	if err != nil {
		return "", fmt.Errorf("reading the given kubeconfig: %w", err)
	}
	return server.Hostname(), nil
}

func (w *World) kubernetesServer() string { return "https://" + w.model.fqdn() + ":443" }

// madeUpKubeconfig has the form of the real one and leads nowhere.
func (w *World) madeUpKubeconfig() map[string]any {
	user := "clusterUser_" + w.scenario.ResourceGroup + "_" + w.scenario.Cluster
	cluster := map[string]any{"server": w.kubernetesServer()}
	identity := map[string]any{
		"client-certificate-data": base64.StdEncoding.EncodeToString([]byte("embedded certificate")),
		"client-key-data":         base64.StdEncoding.EncodeToString([]byte("embedded key")),
	}
	if w.scenario.Entra {
		identity = map[string]any{"exec": map[string]any{
			"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "kubelogin", "env": nil,
			"provideClusterInfo": false,
			"args": []string{
				"get-token", "--environment", "AzurePublicCloud", "--server-id", aksServerApplication,
				"--client-id", aksClientApplication, "--tenant-id", tenant, "--login", "devicecode",
			},
		}}
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Config", "preferences": map[string]any{}, "current-context": w.scenario.Cluster,
		"clusters": []any{map[string]any{"name": w.scenario.Cluster, "cluster": cluster}},
		"contexts": []any{map[string]any{
			"name": w.scenario.Cluster, "context": map[string]string{"cluster": w.scenario.Cluster, "user": user},
		}},
		"users": []any{map[string]any{"name": user, "user": identity}},
	}
}
