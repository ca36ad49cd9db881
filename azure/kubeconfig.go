package azure

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"salve/internal/apierr"
)

// kubeconfigLimit bounds a kubeconfig: one of AKS has about ten kilobytes.
const kubeconfigLimit = 1 << 20

// UserKubeconfig asks for the cluster's user credentials: a kubeconfig, which
// is a secret. Its server is a host that ARM names as the cluster's, and it has
// nothing but embedded data: no file, no proxy, no way round the certificate.
func (c *Client) UserKubeconfig(ctx context.Context, resourceGroup, name string) ([]byte, error) {
	clusters, err := c.managedClusters()
	if err != nil {
		return nil, err
	}
	cluster, err := c.Cluster(ctx, resourceGroup, name)
	if err != nil {
		return nil, err
	}
	doing := fmt.Sprintf("asking for credentials to cluster %q", name)
	var answer []byte
	err = c.read(ctx, doing, func(ctx context.Context) error {
		credentials, err := clusters.ListClusterUserCredentials(ctx, resourceGroup, name, nil)
		if err != nil {
			return err
		}
		if len(credentials.Kubeconfigs) == 0 || credentials.Kubeconfigs[0] == nil {
			return apierr.New(apierr.Terminal, "ARM gave no kubeconfig")
		}
		answer = credentials.Kubeconfigs[0].Value
		return nil
	})
	if err != nil {
		return nil, err
	}
	checked, err := checkedKubeconfig(answer, cluster.Hosts)
	if err != nil {
		return nil, apierr.New(apierr.Terminal, "%s: kubeconfig refused: %w", doing, err)
	}
	return checked, nil
}

// kubeconfig has what AKS writes into one, and what may not be in it. Fields that
// are not here are dropped: what is used is written anew from what was checked.
type kubeconfig struct {
	APIVersion     string         `json:"apiVersion"`
	Kind           string         `json:"kind"`
	CurrentContext string         `json:"current-context"`
	Clusters       []namedCluster `json:"clusters"`
	Contexts       []namedContext `json:"contexts"`
	Users          []namedUser    `json:"users"`
}

type namedCluster struct {
	Name    string      `json:"name"`
	Cluster kubeCluster `json:"cluster"`
}

type kubeCluster struct {
	Server        string `json:"server"`
	AuthorityData string `json:"certificate-authority-data,omitempty"`

	Authority string `json:"certificate-authority,omitempty"`
	Insecure  bool   `json:"insecure-skip-tls-verify,omitempty"`
	Proxy     string `json:"proxy-url,omitempty"`
	TLSName   string `json:"tls-server-name,omitempty"`
}

type namedContext struct {
	Name    string      `json:"name"`
	Context kubeContext `json:"context"`
}

type kubeContext struct {
	Cluster string `json:"cluster"`
	User    string `json:"user"`
}

type namedUser struct {
	Name string   `json:"name"`
	User kubeUser `json:"user"`
}

type kubeUser struct {
	CertificateData string    `json:"client-certificate-data,omitempty"`
	KeyData         string    `json:"client-key-data,omitempty"`
	Token           string    `json:"token,omitempty"`
	Exec            *kubeExec `json:"exec,omitempty"`

	Certificate string          `json:"client-certificate,omitempty"`
	Key         string          `json:"client-key,omitempty"`
	TokenFile   string          `json:"tokenFile,omitempty"`
	Username    string          `json:"username,omitempty"`
	As          string          `json:"as,omitempty"`
	Provider    json.RawMessage `json:"auth-provider,omitempty"`
}

// kubeExec stands for a plugin that is never run: whoever connects takes tokens of
// the credential instead. Its command and arguments are not kept.
type kubeExec struct {
	APIVersion      string `json:"apiVersion"`
	Command         string `json:"command"`
	InteractiveMode string `json:"interactiveMode"`
}

// checkedKubeconfig refuses a kubeconfig that could lead a credential elsewhere, and
// writes the rest anew.
func checkedKubeconfig(raw []byte, hosts []string) ([]byte, error) {
	if len(raw) > kubeconfigLimit {
		return nil, fmt.Errorf("larger than %d bytes", kubeconfigLimit)
	}
	var config kubeconfig
	if err := yaml.Unmarshal(raw, &config); err != nil {
		return nil, fmt.Errorf("not YAML of a kubeconfig") // the decoder would quote secrets
	}
	chosen, err := only(config.Contexts, func(c namedContext) bool { return c.Name == config.CurrentContext }, "context")
	if err != nil {
		return nil, err
	}
	cluster, err := only(config.Clusters, func(c namedCluster) bool { return c.Name == chosen.Context.Cluster }, "cluster")
	if err != nil {
		return nil, err
	}
	user, err := only(config.Users, func(u namedUser) bool { return u.Name == chosen.Context.User }, "user")
	if err != nil {
		return nil, err
	}
	if err := cluster.Cluster.check(hosts); err != nil {
		return nil, err
	}
	if err := user.User.check(len(hosts) > 0); err != nil {
		return nil, err
	}
	if user.User.Exec != nil {
		user.User.Exec = &kubeExec{
			APIVersion: "client.authentication.k8s.io/v1", Command: "kubelogin", InteractiveMode: "Never",
		}
	}
	return yaml.Marshal(kubeconfig{
		APIVersion: "v1", Kind: "Config", CurrentContext: chosen.Name,
		Clusters: []namedCluster{cluster}, Contexts: []namedContext{chosen}, Users: []namedUser{user},
	})
}

// only finds the single item that matches.
func only[T any](all []T, matches func(T) bool, what string) (T, error) {
	var none T
	at := slices.IndexFunc(all, matches)
	if at < 0 {
		return none, fmt.Errorf("no %s is current", what)
	}
	if slices.ContainsFunc(all[at+1:], matches) {
		return none, fmt.Errorf("duplicate %s", what)
	}
	return all[at], nil
}

func (c kubeCluster) check(hosts []string) error {
	server, err := url.Parse(c.Server)
	switch {
	case err != nil || server.Scheme != "https" || server.Hostname() == "" || server.User != nil:
		return fmt.Errorf("server %q is not an https URL", short(c.Server))
	case len(hosts) > 0 && !slices.ContainsFunc(hosts, func(host string) bool {
		return strings.EqualFold(host, server.Hostname())
	}):
		return fmt.Errorf("server %q is none of the cluster's hosts %q", short(c.Server), hosts)
	}
	return refused(map[string]bool{
		"certificate-authority": c.Authority != "", "insecure-skip-tls-verify": c.Insecure,
		"proxy-url": c.Proxy != "", "tls-server-name": c.TLSName != "",
	})
}

// check refuses what isn't embedded. A token of Entra ID goes to a known host only.
func (u kubeUser) check(hostKnown bool) error {
	return refused(map[string]bool{
		"client-certificate": u.Certificate != "", "client-key": u.Key != "", "tokenFile": u.TokenFile != "",
		"username": u.Username != "", "as": u.As != "", "auth-provider": len(u.Provider) > 0 && string(u.Provider) != "null",
		"exec for a host that ARM doesn't name": u.Exec != nil && !hostKnown,
	})
}

func refused(fields map[string]bool) error {
	var found []string
	for field, set := range fields {
		if set {
			found = append(found, field)
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	return fmt.Errorf("it has %s", strings.Join(found, ", "))
}
