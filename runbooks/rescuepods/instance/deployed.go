package instance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/internal/prow/manifest"
	"salve/kube"
)

// Key is a key of a ConfigMap.
type Key struct{ Namespace, Name, Key string }

func (k Key) String() string {
	return fmt.Sprintf("ConfigMap %s/%s, key %s", k.Namespace, k.Name, k.Key)
}

// ParseKey reads a key as NAMESPACE/NAME/KEY.
func ParseKey(text string) (Key, error) {
	parts := strings.SplitN(text, "/", 3)
	if len(parts) < 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return Key{}, fmt.Errorf("%q is not NAMESPACE/NAME/KEY of a ConfigMap", text)
	}
	return Key{parts[0], parts[1], parts[2]}, nil
}

// Deployed is what the cluster says of plank, of sinker and of their configuration.
type Deployed struct {
	// Seen is when it was read, by our clock.
	Seen time.Time
	// Plank and Sinker are Deployments that run them; none where there are none.
	Plank, Sinker []appsv1.Deployment
	// Mount is where plank's configuration is. Content is what is there, and Mounted the namespaces that it says.
	Mount   Key
	Content []byte
	Mounted Namespaces
	// Version is that of the ConfigMap.
	Version string
}

// programs of plank and sinker. plank was a program of its own before 2021.
func plankNames() []string { return []string{"prow-controller-manager", "plank"} }

// Deployed reads the Deployments and the ConfigMap that plank mounts. What can't be read is an error.
func (i *Instance) Deployed(ctx context.Context) (*Deployed, error) {
	seen := &Deployed{Seen: i.Clock.Now(), Mount: i.Mount}
	var planks []manifest.Component
	err := i.eachDeployment(ctx, func(deployment appsv1.Deployment) error {
		set, err := componentsOf(deployment)
		if err != nil {
			return err
		}
		if found := set.Named(plankNames()...); len(found) > 0 {
			seen.Plank, planks = append(seen.Plank, deployment), append(planks, found...)
		}
		if len(set.Named("sinker")) > 0 {
			seen.Sinker = append(seen.Sinker, deployment)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if seen.Mount == (Key{}) {
		if seen.Mount, err = mountOf(i.Components, planks); err != nil {
			return nil, err
		}
	}
	return seen, i.content(ctx, seen)
}

func (i *Instance) eachDeployment(ctx context.Context, visit func(appsv1.Deployment) error) error {
	var all []appsv1.Deployment
	list := func(ctx context.Context, options metav1.ListOptions) (*appsv1.DeploymentList, error) {
		return i.Client.AppsV1().Deployments(i.Components).List(ctx, options)
	}
	err := kube.RetryExpired(func() error {
		all = nil
		return kube.ListPages(ctx, i.Cluster, "listing the Deployments of namespace "+i.Components,
			kube.Scope{}.Options(), list, func(page *appsv1.DeploymentList) error {
				all = append(all, page.Items...)
				return nil
			})
	})
	if err != nil {
		return err
	}
	for _, deployment := range all {
		if err := visit(deployment); err != nil {
			return err
		}
	}
	return nil
}

// componentsOf reads a Deployment as salve prow check reads its manifest: what a container runs is told in one way.
func componentsOf(deployment appsv1.Deployment) (*manifest.Set, error) {
	deployment.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}
	deployment.ManagedFields, deployment.Annotations = nil, nil
	name := deployment.Namespace + "/" + deployment.Name
	raw, err := json.Marshal(deployment)
	if err != nil {
		return nil, apierr.New(apierr.Terminal, "reading Deployment %s: %w", name, err)
	}
	set := manifest.Parse("Deployment "+name, raw)
	if set.Incomplete() {
		return nil, apierr.New(apierr.Terminal, "reading Deployment %s: %s", name, set.Unreadable[0].Message)
	}
	return set, nil
}

// mountOf is where all of plank's containers take their configuration from.
func mountOf(namespace string, planks []manifest.Component) (Key, error) {
	if len(planks) == 0 {
		return Key{}, apierr.New(apierr.Terminal, "not found: no Deployment of namespace %s runs %s. "+
			"hint: --prow-namespace", namespace, strings.Join(plankNames(), " or "))
	}
	first := planks[0].Config
	for _, plank := range planks {
		switch {
		case plank.Config == nil || plank.Config.ConfigMap == "" || plank.Config.Key == "":
			return Key{}, apierr.New(apierr.Terminal, "unknown: where %s takes its configuration from (%s). "+
				"hint: --prow-config-map NAMESPACE/NAME/KEY", plank.Workload(), sourceOf(plank))
		case *plank.Config != *first:
			return Key{}, apierr.New(apierr.Terminal, "ambiguous: %s takes its configuration from %s, and %s from %s. "+
				"hint: --prow-config-map NAMESPACE/NAME/KEY", planks[0].Workload(), first, plank.Workload(), plank.Config)
		}
	}
	key, err := ParseKey(first.ConfigMap + "/" + first.Key)
	if err != nil {
		return Key{}, apierr.New(apierr.Terminal, "unknown: where %s takes its configuration from: %w",
			planks[0].Workload(), err)
	}
	return key, nil
}

func sourceOf(plank manifest.Component) string {
	if plank.Config == nil {
		return "no --config-path"
	}
	return plank.Config.String()
}

// content reads the configuration that plank mounts.
func (i *Instance) content(ctx context.Context, seen *Deployed) error {
	var found *corev1.ConfigMap
	err := i.Read(ctx, "reading "+seen.Mount.String(), func(ctx context.Context) (err error) {
		found, err = i.Client.CoreV1().ConfigMaps(seen.Mount.Namespace).Get(ctx, seen.Mount.Name, metav1.GetOptions{})
		return err
	})
	if err != nil {
		return err
	}
	content, there := found.BinaryData[seen.Mount.Key]
	if !there {
		var text string
		if text, there = found.Data[seen.Mount.Key]; there {
			content = []byte(text)
		}
	}
	if !there {
		return apierr.New(apierr.Terminal, "not found: %s", seen.Mount)
	}
	seen.Version = found.ResourceVersion
	if seen.Mounted, seen.Content, err = parse(seen.Mount.String(), content); err != nil {
		return apierr.New(apierr.Terminal, "%w", err)
	}
	return nil
}
