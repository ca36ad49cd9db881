package azure_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"salve/azure"
	"salve/internal/apierr"
)

const (
	groupPath      = inSubscription + "/resourceGroups/fleet"
	clustersPath   = groupPath + "/providers/Microsoft.ContainerService/managedClusters"
	deploymentPath = groupPath + "/providers/Microsoft.Resources/deployments/first"
	stackPath      = groupPath + "/providers/Microsoft.Resources/deploymentStacks/first"
	subPath        = "/subscriptions/" + subscription
	ofSubscription = subPath + "/providers/Microsoft.Resources/deployments/first"
)

// clusterBody is a cluster as ARM answers it, with pools.
func clusterBody(pools ...string) string {
	var profiles []string
	for _, pool := range pools {
		profiles = append(profiles, fmt.Sprintf(`{"name":%q,"provisioningState":"Succeeded"}`, pool))
	}
	return fmt.Sprintf(`{"id":%q,"name":"aks-1","type":"Microsoft.ContainerService/ManagedClusters","properties":{"fqdn":"aks-1.azmk8s.io","agentPoolProfiles":[%s]}}`,
		strings.Replace(clusterPath, "resourceGroups", "resourcegroups", 1), strings.Join(profiles, ","))
}

func found(body string) reply  { return reply{status: 200, body: body} }
func absent(code string) reply { return reply{status: 404, body: refusedWith(code)} }
func entity(id string) string  { return fmt.Sprintf(`{"id":%q,"location":"westeurope"}`, id) }
func itself(id string) reply   { return found(entity(id)) }
func none() reply              { return found(`{"value":[]}`) }
func listed(ids ...string) reply {
	var items []string
	for _, id := range ids {
		items = append(items, entity(id))
	}
	return found(`{"value":[` + strings.Join(items, ",") + `]}`)
}

// TestAbsenceIsTheResourcesOwnUnderAParentThatWasSeen: no other 404 is class Missing,
// which callers take for "gone".
func TestAbsenceIsTheResourcesOwnUnderAParentThatWasSeen(t *testing.T) {
	reads := map[string]func(*azure.Client) error{
		"cluster": func(c *azure.Client) error { _, err := c.Cluster(context.Background(), "fleet", "aks-1"); return err },
		"pool":    func(c *azure.Client) error { _, err := c.Definition(context.Background(), pool); return err },
		"deletion": func(c *azure.Client) error {
			_, err := c.DeletePool(permitted(), pool, "etag", azure.DeletePoolOptions{})
			return err
		},
		"group": func(c *azure.Client) error { _, err := c.GroupLocation(context.Background(), "fleet"); return err },
		"deployment": func(c *azure.Client) error {
			_, err := c.Deployment(context.Background(), azure.DeploymentName{ResourceGroup: "fleet", Name: "first"})
			return err
		},
		"deployment of the subscription": func(c *azure.Client) error {
			_, err := c.Deployment(context.Background(), azure.DeploymentName{Name: "first"})
			return err
		},
		"stack": func(c *azure.Client) error {
			_, err := c.Stack(context.Background(), azure.StackName{ResourceGroup: "fleet", Name: "first"})
			return err
		},
		"provider": func(c *azure.Client) error {
			_, err := c.ProviderState(context.Background(), "Microsoft.Cdn")
			return err
		},
		"feature": func(c *azure.Client) error {
			_, err := c.FeatureState(context.Background(), "Microsoft.Cdn", "first")
			return err
		},
	}
	const (
		providerPath = subPath + "/providers/Microsoft.Cdn"
		featurePath  = subPath + "/providers/Microsoft.Features/providers/Microsoft.Cdn/features/first"
	)
	type script = map[string]reply
	for _, row := range []struct {
		read, name string
		want       apierr.Class
		script     script
	}{
		{"cluster", "gone", apierr.Missing, script{
			"GET " + clusterPath: absent("ResourceNotFound"), "GET " + clustersPath: none(),
		}},
		{"cluster", "another is left", apierr.Missing, script{
			"GET " + clusterPath: absent("ResourceNotFound"), "GET " + clustersPath: listed(clustersPath + "/aks-2"),
		}},
		{"cluster", "still listed", apierr.Transient, script{
			"GET " + clusterPath: absent("ResourceNotFound"), "GET " + clustersPath: listed(strings.ToUpper(clusterPath)),
		}},
		{"cluster", "group not seen", apierr.Denied, script{
			"GET " + clusterPath:  absent("ResourceNotFound"),
			"GET " + clustersPath: {status: 403, body: refusedWith("AuthorizationFailed")},
		}},
		{"cluster", "group gone meanwhile", apierr.Denied, script{
			"GET " + clusterPath: absent("ResourceNotFound"), "GET " + clustersPath: absent("ResourceGroupNotFound"),
		}},
		{"cluster", "no list", apierr.Terminal, script{
			"GET " + clusterPath: absent("ResourceNotFound"), "GET " + clustersPath: found(`{}`),
		}},
		{"cluster", "another cloud", apierr.Denied, script{"GET " + clusterPath: absent("SubscriptionNotFound")}},
		{"cluster", "invalid subscription", apierr.Denied, script{"GET " + clusterPath: absent("InvalidSubscriptionId")}},
		{"cluster", "another group", apierr.Denied, script{"GET " + clusterPath: absent("ResourceGroupNotFound")}},
		{"cluster", "another tenant", apierr.Denied, script{
			"GET " + clusterPath: {status: 401, body: refusedWith("InvalidAuthenticationTokenTenant")},
		}},
		{"cluster", "a proxy's page", apierr.Denied, script{"GET " + clusterPath: {status: 404, body: "<html>"}}},
		{"pool", "gone", apierr.Missing, script{
			"GET " + poolPath: absent("NotFound"), "GET " + clusterPath: found(clusterBody("user")),
		}},
		{"pool", "still listed", apierr.Transient, script{
			"GET " + poolPath: absent("NotFound"), "GET " + clusterPath: found(clusterBody("system")),
		}},
		{"pool", "cluster gone", apierr.Denied, script{
			"GET " + poolPath: absent("NotFound"), "GET " + clusterPath: absent("ResourceNotFound"),
		}},
		{"pool", "another cluster answers", apierr.Terminal, script{
			"GET " + poolPath:    absent("NotFound"),
			"GET " + clusterPath: found(strings.ReplaceAll(clusterBody(), "aks-1", "aks-2")),
		}},
		{"pool", "parent not found", apierr.Denied, script{"GET " + poolPath: absent("ParentResourceNotFound")}},
		{"pool", "another cloud", apierr.Denied, script{"GET " + poolPath: absent("SubscriptionNotFound")}},
		{"deletion", "gone", apierr.Missing, script{
			"DELETE " + poolPath: absent("NotFound"), "GET " + clusterPath: found(clusterBody()),
		}},
		{"deletion", "cluster not seen", apierr.Denied, script{
			"DELETE " + poolPath: absent("NotFound"), "GET " + clusterPath: absent("SubscriptionNotFound"),
		}},
		{"deletion", "another group", apierr.Denied, script{"DELETE " + poolPath: absent("ResourceGroupNotFound")}},
		{"group", "gone", apierr.Missing, script{
			"GET " + groupPath: absent("ResourceGroupNotFound"), "GET " + subPath: itself(subPath),
		}},
		{"group", "subscription not seen", apierr.Denied, script{
			"GET " + groupPath: absent("ResourceGroupNotFound"), "GET " + subPath: absent("SubscriptionNotFound"),
		}},
		{"group", "another subscription answers", apierr.Terminal, script{
			"GET " + groupPath: absent("ResourceGroupNotFound"), "GET " + subPath: itself("/subscriptions/x"),
		}},
		{"group", "another cloud", apierr.Denied, script{"GET " + groupPath: absent("SubscriptionNotFound")}},
		{"deployment", "gone", apierr.Missing, script{
			"GET " + deploymentPath: absent("DeploymentNotFound"), "GET " + groupPath: itself(groupPath),
		}},
		{"deployment", "group not seen", apierr.Denied, script{
			"GET " + deploymentPath: absent("DeploymentNotFound"), "GET " + groupPath: absent("SubscriptionNotFound"),
		}},
		{"deployment", "group gone meanwhile", apierr.Denied, script{
			"GET " + deploymentPath: absent("DeploymentNotFound"), "GET " + groupPath: absent("ResourceGroupNotFound"),
			"GET " + subPath: itself(subPath),
		}},
		{"deployment", "gone with its group", apierr.Missing, script{
			"GET " + deploymentPath: absent("ResourceGroupNotFound"), "GET " + groupPath: absent("ResourceGroupNotFound"),
			"GET " + subPath: itself(subPath),
		}},
		{"deployment", "its group is there all the same", apierr.Transient, script{
			"GET " + deploymentPath: absent("ResourceGroupNotFound"), "GET " + groupPath: itself(groupPath),
		}},
		{"deployment", "its group not seen", apierr.Denied, script{
			"GET " + deploymentPath: absent("ResourceGroupNotFound"), "GET " + groupPath: absent("SubscriptionNotFound"),
		}},
		{"stack", "gone", apierr.Missing, script{
			"GET " + stackPath: absent("DeploymentStackNotFound"), "GET " + groupPath: itself(groupPath),
		}},
		{"stack", "gone with its group", apierr.Missing, script{
			"GET " + stackPath: absent("ResourceGroupNotFound"), "GET " + groupPath: absent("ResourceGroupNotFound"),
			"GET " + subPath: itself(subPath),
		}},
		{"stack", "group not seen", apierr.Denied, script{
			"GET " + stackPath: absent("DeploymentStackNotFound"), "GET " + groupPath: absent("SubscriptionNotFound"),
		}},
		{"stack", "a proxy's page", apierr.Denied, script{"GET " + stackPath: {status: 404, body: "<html>"}}},
		{"provider", "none", apierr.Missing, script{
			"GET " + providerPath: absent("InvalidResourceNamespace"), "GET " + subPath: itself(subPath),
		}},
		{"provider", "another cloud", apierr.Denied, script{"GET " + providerPath: absent("SubscriptionNotFound")}},
		{"feature", "none", apierr.Missing, script{
			"GET " + featurePath: absent("FeatureNotFound"), "GET " + subPath: itself(subPath),
		}},
		{"feature", "subscription not seen", apierr.Denied, script{
			"GET " + featurePath: absent("FeatureNotFound"), "GET " + subPath: absent("SubscriptionNotFound"),
		}},
		{"deployment of the subscription", "gone", apierr.Missing, script{
			"GET " + ofSubscription: absent("DeploymentNotFound"), "GET " + subPath: itself(subPath),
		}},
		{"deployment of the subscription", "not seen", apierr.Denied, script{
			"GET " + ofSubscription: absent("DeploymentNotFound"), "GET " + subPath: absent("SubscriptionNotFound"),
		}},
	} {
		t.Run(row.read+"/"+row.name, func(t *testing.T) {
			scripted(t, row.script, func(t *testing.T, client *azure.Client) {
				if err := reads[row.read](client); err == nil || apierr.ClassOf(err) != row.want {
					t.Errorf("got %v of class %s, want %s", err, apierr.ClassOf(err), row.want)
				}
			})
		})
	}
}

// TestAnswerAboutAnotherResourceIsNone: what a confused proxy answers is never a
// snapshot of what was asked for.
func TestAnswerAboutAnotherResourceIsNone(t *testing.T) {
	ctx := context.Background()
	poolAnswer := func(id, name, kind string) string {
		return fmt.Sprintf(`{"id":%q,"name":%q,"type":%q,"properties":{"eTag":"1","provisioningState":"Failed"}}`, id, name, kind)
	}
	const (
		kind       = "Microsoft.ContainerService/managedClusters/agentPools"
		sets       = inSubscription + "/resourceGroups/nodes/providers/Microsoft.Compute/virtualMachineScaleSets"
		interfaces = sets + "/aks-system/networkInterfaces"
		setBody    = `{"value":[{"id":"%s/aks-system","name":"%s","type":"%s","tags":{"aks-managed-poolName":"system"}}]}`
		nicBody    = `{"value":[{"id":"%s/virtualMachines/0/networkInterfaces/n","properties":{"ipConfigurations":[]}}]}`
		deployBody = `{"id":%q,"name":%q,"type":"Microsoft.Resources/deployments","properties":{"provisioningState":"Succeeded"}}`
		setKind    = "Microsoft.Compute/virtualMachineScaleSets"
	)
	reads := map[string]func(*azure.Client) error{
		"GET " + clusterPath: func(c *azure.Client) error { _, err := c.Cluster(ctx, "fleet", "aks-1"); return err },
		"GET " + poolPath:    func(c *azure.Client) error { _, err := c.Definition(ctx, pool); return err },
		"GET " + sets:        func(c *azure.Client) error { _, err := c.ScaleSets(ctx, "nodes", "system"); return err },
		"GET " + interfaces: func(c *azure.Client) error {
			return c.Interfaces(ctx, "nodes", "aks-system", func(azure.Interface) bool { return true })
		},
		"GET " + groupPath: func(c *azure.Client) error { _, err := c.GroupLocation(ctx, "fleet"); return err },
		"GET " + deploymentPath: func(c *azure.Client) error {
			_, err := c.Deployment(ctx, azure.DeploymentName{ResourceGroup: "fleet", Name: "first"})
			return err
		},
	}
	for name, row := range map[string]struct {
		request, body string
		taken         bool
	}{
		"the cluster": {"GET " + clusterPath, clusterBody("system"), true},
		"another cluster": {"GET " + clusterPath,
			strings.ReplaceAll(clusterBody("system"), "aks-1", "aks-2"), false},
		"its ID under another name": {"GET " + clusterPath, strings.Replace(clusterBody(), `"name":"aks-1"`, `"name":"aks-2"`, 1), false},
		"a cluster of another kind": {"GET " + clusterPath,
			strings.Replace(clusterBody(), "ManagedClusters", "fleets", 1), false},
		"a cluster without properties": {"GET " + clusterPath,
			strings.Replace(clusterBody(), "properties", "other", 1), false},
		"a pool twice":          {"GET " + clusterPath, clusterBody("system", "system"), false},
		"a pool without a name": {"GET " + clusterPath, clusterBody("system", ""), false},
		"the pool":              {"GET " + poolPath, poolAnswer(strings.ToLower(poolPath), "system", kind), true},
		"another pool":          {"GET " + poolPath, poolAnswer(clusterPath+"/agentPools/user", "user", kind), false},
		"another pool's name":   {"GET " + poolPath, poolAnswer(poolPath, "user", kind), false},
		"a pool of another cluster": {"GET " + poolPath,
			poolAnswer(strings.Replace(poolPath, "aks-1", "aks-2", 1), "system", kind), false},
		"another kind of resource": {"GET " + poolPath,
			poolAnswer(poolPath, "system", "Microsoft.ContainerService/managedClusters"), false},
		"a pool without an ID": {"GET " + poolPath, `{"properties":{}}`, false},
		"a scale set":          {"GET " + sets, fmt.Sprintf(setBody, strings.ToUpper(sets), "aks-system", setKind), true},
		"a scale set elsewhere": {"GET " + sets,
			fmt.Sprintf(setBody, strings.Replace(sets, "nodes", "other", 1), "aks-system", setKind), false},
		"a scale set's wrong name": {"GET " + sets, fmt.Sprintf(setBody, sets, "aks-user", setKind), false},
		"no scale set": {"GET " + sets,
			fmt.Sprintf(setBody, sets, "aks-system", "Microsoft.Compute/disks"), false},
		"an interface":            {"GET " + interfaces, fmt.Sprintf(nicBody, sets+"/aks-system"), true},
		"another set's interface": {"GET " + interfaces, fmt.Sprintf(nicBody, sets+"/aks-system2"), false},
		"the group":               {"GET " + groupPath, entity(strings.ToUpper(groupPath)), true},
		"another group":           {"GET " + groupPath, entity(groupPath + "2"), false},
		"the deployment":          {"GET " + deploymentPath, fmt.Sprintf(deployBody, deploymentPath, "first"), true},
		"another deployment":      {"GET " + deploymentPath, fmt.Sprintf(deployBody, deploymentPath+"2", "first2"), false},
	} {
		t.Run(name, func(t *testing.T) {
			scripted(t, map[string]reply{row.request: found(row.body)}, func(t *testing.T, client *azure.Client) {
				err := reads[row.request](client)
				if (err == nil) != row.taken || err != nil && apierr.ClassOf(err) != apierr.Terminal {
					t.Errorf("got %v of class %s", err, apierr.ClassOf(err))
				}
			})
		})
	}
}

// TestKubeconfigLeadsToTheClusterOnly: it carries a token, or a client's key, to its
// server.
func TestKubeconfigLeadsToTheClusterOnly(t *testing.T) {
	const good = `
apiVersion: v1
kind: Config
current-context: aks-1
clusters: [{name: aks-1, cluster: {server: "https://aks-1.azmk8s.io:443", certificate-authority-data: QQ==}}]
contexts: [{name: aks-1, context: {cluster: aks-1, user: me}}]
users: [{name: me, user: {client-certificate-data: QQ==, client-key-data: QQ==}}]
`
	const entra = "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: rm, args: [-rf]}"
	const certificate = "client-certificate-data: QQ==, client-key-data: QQ=="
	for name, row := range map[string]struct {
		old, with string
		want      string // empty: taken
		noHosts   bool
	}{
		"as AKS writes it":    {},
		"by its private name": {old: "aks-1.azmk8s.io", with: "aks-1.PRIVATELINK.azmk8s.io"},
		"hosts not known":     {noHosts: true},
		"Entra ID":            {old: certificate, with: entra},
		"Entra ID, unknown host": {
			old: certificate, with: entra, noHosts: true, want: "exec for a host that ARM doesn't name",
		},
		"another server":     {old: "aks-1.azmk8s.io", with: "evil.azmk8s.io", want: "none of the cluster's hosts"},
		"its name in front":  {old: "aks-1.azmk8s.io", with: "aks-1.azmk8s.io.evil", want: "none of the cluster's hosts"},
		"its name as a user": {old: "aks-1.azmk8s.io:443", with: "aks-1.azmk8s.io@evil", want: "not an https URL"},
		"without TLS":        {old: "https://", with: "http://", want: "not an https URL"},
		"any certificate": {old: "certificate-authority-data: QQ==",
			with: "insecure-skip-tls-verify: true", want: "insecure-skip-tls-verify"},
		"a proxy": {old: "certificate-authority-data",
			with: "proxy-url: http://evil, certificate-authority-data", want: "proxy-url"},
		"another certificate's": {old: "certificate-authority-data",
			with: "tls-server-name: evil, certificate-authority-data", want: "tls-server-name"},
		"an authority's file": {old: "certificate-authority-data: QQ==",
			with: "certificate-authority: /etc/x", want: "certificate-authority"},
		"a certificate's file": {old: "client-certificate-data: QQ==",
			with: "client-certificate: /etc/x", want: "client-certificate"},
		"a key's file":       {old: "client-key-data: QQ==", with: "client-key: /etc/x", want: "client-key"},
		"a token's file":     {old: certificate, with: "tokenFile: /etc/x", want: "tokenFile"},
		"another provider":   {old: certificate, with: "auth-provider: {name: azure}", want: "auth-provider"},
		"as somebody else":   {old: certificate, with: certificate + ", as: admin", want: "it has as"},
		"a password":         {old: certificate, with: "username: admin, password: secret", want: "username"},
		"no current context": {old: "current-context: aks-1", with: "current-context: other", want: "no context is current"},
		"two such users":     {old: "users: [", with: "users: [{name: me, user: {token: x}}, ", want: "duplicate user"},
		"no YAML":            {old: "apiVersion: v1", with: "apiVersion: [", want: "not YAML"},
		"too large": {old: "apiVersion: v1",
			with: "apiVersion: v1\n#" + strings.Repeat("x", 2<<20), want: "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, row.old, row.with, 1)
			if row.old != "" && text == good {
				t.Fatal("the row changes nothing")
			}
			hosts := []string{"aks-1.azmk8s.io", "aks-1.privatelink.azmk8s.io"}
			if row.noHosts {
				hosts = nil
			}
			checked, err := azure.CheckedKubeconfig([]byte(text), hosts)
			switch {
			case row.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
				t.Errorf("got %v, want %q", err, row.want)
			case strings.Contains(string(checked), "rm"):
				t.Errorf("the plugin's command is kept:\n%s", checked)
			}
		})
	}
}

// TestKubeconfigIsComparedWithTheCluster: with the hosts that ARM names.
func TestKubeconfigIsComparedWithTheCluster(t *testing.T) {
	// server: https://evil in a kubeconfig as AKS writes it.
	const evil = `{"kubeconfigs":[{"name":"clusterUser","value":"Y3VycmVudC1jb250ZXh0OiBjCmNsdXN0ZXJzOiBbe25hbWU6IGMsIGNsdXN0ZXI6IHtzZXJ2ZXI6ICJodHRwczovL2V2aWwifX1dCmNvbnRleHRzOiBbe25hbWU6IGMsIGNvbnRleHQ6IHtjbHVzdGVyOiBjLCB1c2VyOiB1fX1dCnVzZXJzOiBbe25hbWU6IHUsIHVzZXI6IHt0b2tlbjogeH19XQo="}]}`
	script := map[string]reply{
		"GET " + clusterPath: found(clusterBody()), "POST " + clusterPath + "/listClusterUserCredential": found(evil),
	}
	for body, want := range map[string]string{evil: "none of the cluster's hosts", `{"kubeconfigs":[]}`: "no kubeconfig", `{"kubeconfigs":[null]}`: "no kubeconfig"} {
		script := maps.Clone(script)
		script["POST "+clusterPath+"/listClusterUserCredential"] = found(body)
		scripted(t, script, func(t *testing.T, client *azure.Client) {
			_, err := client.UserKubeconfig(context.Background(), "fleet", "aks-1")
			if err == nil || apierr.ClassOf(err) != apierr.Terminal || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v of class %s, want %q", err, apierr.ClassOf(err), want)
			}
		})
	}
}
