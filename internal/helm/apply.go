package helm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"helm.sh/helm/v4/pkg/action"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	helmkube "helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"

	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

// Order is what a release is to become.
type Order struct {
	Name   string
	Chart  Chart
	Values map[string]any
	// Run marks the revision.
	Run string
	// Timeout bounds the wait for what was applied, and each hook.
	Timeout time.Duration
	// Rollback has an upgrade that fails go back to the revision that was deployed last.
	Rollback bool
}

// ErrPending says that somebody else's install, upgrade or rollback of the release is pending.
var ErrPending = errors.New("another operation is pending on the release")

// Apply installs the release, or upgrades it, and waits until all that the chart makes is ready. What an earlier
// process of the same run has left pending is marked as failed first. It returns when nothing goes on any more.
func (c *Client) Apply(ctx context.Context, order Order) error {
	config, err := c.configuration(ctx)
	if err != nil {
		return err
	}
	revisions, err := history(config, order.Name)
	if err != nil {
		return kube.Classify(err)
	}
	chart, err := order.Chart.load()
	if err != nil {
		return apierr.New(apierr.Terminal, "loading the chart: %w", err)
	}
	install := len(revisions) == 0 || revisions[0].uninstalled()
	if len(revisions) > 0 && revisions[0].Pending() {
		if Starter(revisions) != order.Run {
			return apierr.New(apierr.Conflict, "%w: revision %d is %s", ErrPending, revisions[0].Number, revisions[0].Status)
		}
		if err := settle(config, order.Name, revisions[0].Number); err != nil {
			return err
		}
	}
	if first := len(revisions) > 0 && Starter(revisions) == order.Run && !anyLasted(revisions); first {
		install = true // its hooks of an install have not all been run
	}
	if install {
		return outcome(ctx, c.install(ctx, config, order, chart))
	}
	return outcome(ctx, c.upgrade(ctx, config, order, chart))
}

// outcome gives an error of Helm its class. What Helm began has ended then, unless the end of ctx cut it off.
func outcome(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return apierr.New(apierr.Transient, "%w: %w", context.Cause(ctx), err)
	}
	return &runbook.EndedError{Err: apierr.New(apierr.Terminal, "%w", err)}
}

func anyLasted(revisions []Revision) bool {
	for _, one := range revisions {
		if one.lasted() {
			return true
		}
	}
	return false
}

// Starter is the run that began the newest revision. A rollback after a failure carries the labels of what it went back
// to: it was begun by who has failed.
func Starter(revisions []Revision) string {
	switch {
	case len(revisions) == 0:
		return ""
	case revisions[0].Status == "pending-rollback" && len(revisions) > 1:
		return revisions[1].Run
	}
	return revisions[0].Run
}

func (o Order) labels() map[string]string {
	return map[string]string{runLabel: o.Run, chartLabel: o.Chart.Digest()}
}

func (c *Client) install(ctx context.Context, config *action.Configuration, order Order, chart *chartv2.Chart) error {
	install := action.NewInstall(config)
	install.ReleaseName, install.Namespace = order.Name, c.Namespace
	install.Timeout, install.Labels = order.Timeout, order.labels()
	install.WaitStrategy, install.WaitOptions = helmkube.StatusWatcherStrategy, waitWithin(ctx)
	install.WaitForJobs = true
	install.ForceConflicts, install.TakeOwnership = true, true
	install.DisableOpenAPIValidation = true // the API server validates
	install.Replace = true                  // the name of a release that failed, or was uninstalled
	// Requests end with ctx by themselves. Helm's own way to end would go on behind our back.
	_, err := install.RunWithContext(context.WithoutCancel(ctx), chart, copied(order.Values))
	return err
}

func (c *Client) upgrade(ctx context.Context, config *action.Configuration, order Order, chart *chartv2.Chart) error {
	upgrade := action.NewUpgrade(config)
	upgrade.Namespace = c.Namespace
	upgrade.Timeout, upgrade.Labels = order.Timeout, order.labels()
	upgrade.WaitStrategy, upgrade.WaitOptions = helmkube.StatusWatcherStrategy, waitWithin(ctx)
	upgrade.WaitForJobs = true
	upgrade.ServerSideApply, upgrade.ForceConflicts, upgrade.TakeOwnership = "true", true, true
	upgrade.DisableOpenAPIValidation = true
	upgrade.ResetValues = true
	upgrade.RollbackOnFailure = order.Rollback
	_, err := upgrade.RunWithContext(context.WithoutCancel(ctx), order.Name, chart, copied(order.Values))
	return err
}

func waitWithin(ctx context.Context) []helmkube.WaitOption {
	return []helmkube.WaitOption{helmkube.WithWaitContext(ctx)}
}

// Render gives the manifests of the chart with the values, as the cluster's version has them. It changes nothing.
func (c *Client) Render(ctx context.Context, order Order, upgrade bool) (string, error) {
	config, err := c.configuration(ctx)
	if err != nil {
		return "", err
	}
	chart, err := order.Chart.load()
	if err != nil {
		return "", fmt.Errorf("loading the chart: %w", err)
	}
	install := action.NewInstall(config)
	install.ReleaseName, install.Namespace = order.Name, c.Namespace
	install.DryRunStrategy, install.IsUpgrade = action.DryRunServer, upgrade
	install.TakeOwnership, install.DisableOpenAPIValidation = true, true
	made, err := install.RunWithContext(ctx, chart, copied(order.Values))
	if err != nil {
		return "", err
	}
	rendered, ok := made.(*release.Release)
	if !ok || rendered == nil {
		return "", fmt.Errorf("rendering gave %T", made)
	}
	return rendered.Manifest, nil
}

// SameValues compares values by what they are in JSON.
func SameValues(a, b map[string]any) bool {
	return string(encoded(a)) == string(encoded(b))
}

func encoded(values map[string]any) []byte {
	if len(values) == 0 {
		return []byte("{}")
	}
	raw, _ := json.Marshal(values) // they were JSON, or YAML read as such
	return raw
}

// copied is a copy of values: Helm changes what it is given.
func copied(values map[string]any) map[string]any {
	made := map[string]any{}
	_ = json.Unmarshal(encoded(values), &made) // it was encoded right here
	return made
}
