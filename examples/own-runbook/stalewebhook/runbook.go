package stalewebhook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	admission "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/kube"
	"salve/runbook"
)

// Name is the runbook's name on the command line and in journals.
const Name = "remove-stale-webhook"

// targetInfix stands between the IDs of a cluster and of a target in it.
const targetInfix = "/validatingwebhooks/"

// Inputs are what the runbook is made from. They are journaled.
type Inputs struct {
	// Configuration is the name of the ValidatingWebhookConfiguration.
	Configuration string `json:"configuration"`
}

// New makes the runbook for one configuration of a cluster.
func New(cluster *kube.Cluster, clusterID string, in Inputs) (runbook.Runbook, error) {
	if in.Configuration == "" {
		return runbook.Runbook{}, errors.New(
			"required flag --configuration not set (for example --configuration policy.example.com)")
	}
	r := &removal{cluster: cluster, name: in.Configuration}
	return runbook.Runbook{
		Name: Name, Version: "1", Inputs: in, Budget: 5 * time.Minute,
		Target: runbook.Target{
			Kind: "webhook configuration", ID: clusterID + targetInfix + in.Configuration, Name: in.Configuration,
		},
		Guards: []runbook.Guard{
			runbook.Ask("configuration-exists", "is there such a configuration?", r.read, exists),
			runbook.Ask("fails-closed", "does a missing answer refuse writes?", r.read, failsClosed),
			runbook.Ask("services-gone", "is the service of every webhook gone?", r.read, servicesGone),
		},
		Steps: []runbook.Step{r.record(), r.delete()},
		Checks: []runbook.Guard{
			runbook.Ask("configuration-gone", "is the recorded configuration gone?", r.read, r.gone),
		},
	}, nil
}

// Replayed is the runbook for its decisions alone, as salve replay makes it: guards decide from recorded readings, and
// nothing is read.
func Replayed(in Inputs, target runbook.Target) (runbook.Runbook, error) {
	clusterID, found := strings.CutSuffix(target.ID, targetInfix+in.Configuration)
	if !found {
		return runbook.Runbook{}, fmt.Errorf("inputs are of configuration %q, the record is of %q", in.Configuration, target.ID)
	}
	return New(nil, clusterID, in)
}

// removal is the runbook at work.
type removal struct {
	cluster *kube.Cluster
	name    string
	seen    runbook.Shared[reading]
}

// reading is what is read of the cluster in one round. Guards decide from its JSON, which the journal keeps.
type reading struct {
	// Configuration is nil when there is none.
	Configuration *configuration `json:"configuration"`
	// Serving names services that exist, or can't be told.
	Serving []string  `json:"serving"`
	At      time.Time `json:"at"`
	// whole is for the step that writes it down.
	whole *admission.ValidatingWebhookConfiguration `json:"-"`
}

// configuration is what guards take of a ValidatingWebhookConfiguration.
type configuration struct {
	Name string `json:"name"`
	identity
	Webhooks []webhook `json:"webhooks"`
}

type webhook struct {
	Name          string                       `json:"name"`
	FailurePolicy *admission.FailurePolicyType `json:"failurePolicy"`
}

// identity tells one configuration, in one state, from all others.
type identity struct {
	UID             string `json:"uid"`
	ResourceVersion string `json:"resourceVersion"`
}

func configurationOf(whole *admission.ValidatingWebhookConfiguration) *configuration {
	seen := &configuration{Name: whole.Name, identity: identity{string(whole.UID), whole.ResourceVersion}}
	for _, one := range whole.Webhooks {
		seen.Webhooks = append(seen.Webhooks, webhook{one.Name, one.FailurePolicy})
	}
	return seen
}

// read reads the configuration and the services that it names, once in a round.
func (r *removal) read(ctx context.Context, run runbook.Run) (reading, error) {
	return r.seen.Get(ctx, run, r.readAll)
}

func (r *removal) readAll(ctx context.Context) (reading, error) {
	seen := reading{At: r.cluster.Clock.Now()}
	whole, err := r.get(ctx)
	if err != nil || whole == nil {
		return seen, err
	}
	seen.whole, seen.Configuration = whole, configurationOf(whole)
	for _, webhook := range whole.Webhooks {
		service := webhook.ClientConfig.Service
		if service == nil { // a URL: who answers there is not the cluster's to know
			seen.Serving = append(seen.Serving, webhook.Name+" is called by URL")
			continue
		}
		there, err := r.exists(ctx, service.Namespace, service.Name)
		if err != nil {
			return seen, err
		}
		if there {
			seen.Serving = append(seen.Serving,
				fmt.Sprintf("%s has service %s/%s", webhook.Name, service.Namespace, service.Name))
		}
	}
	return seen, nil
}

// get reads the configuration; nil when it is not found. The list of its kind is the
// parent that has to be seen: a 404 alone may come from anywhere.
func (r *removal) get(ctx context.Context) (found *admission.ValidatingWebhookConfiguration, _ error) {
	client := r.cluster.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	err := r.cluster.Read(ctx, "listing validating webhook configurations", func(ctx context.Context) error {
		list, err := client.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		found = nil
		for i := range list.Items {
			if list.Items[i].Name == r.name {
				found = &list.Items[i]
			}
		}
		return nil
	})
	return found, err
}

// exists tells whether a service is there. It is gone when its namespace was seen
// without it, or when the namespace is gone too.
func (r *removal) exists(ctx context.Context, namespace, name string) (there bool, _ error) {
	core := r.cluster.Client.CoreV1()
	err := r.cluster.Read(ctx, "reading service "+namespace+"/"+name, func(ctx context.Context) error {
		list, err := core.Services(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		there = false
		for _, service := range list.Items {
			there = there || service.Name == name
		}
		if there {
			return nil
		}
		// An empty list is no proof: a second question has to agree.
		_, err = core.Services(namespace).Get(ctx, name, metav1.GetOptions{})
		if there = !apierrors.IsNotFound(err); there {
			return err
		}
		return nil
	})
	return there, err
}
