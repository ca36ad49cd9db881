package helm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"helm.sh/helm/v4/pkg/action"
	ri "helm.sh/helm/v4/pkg/release"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"

	"salve/kube"
)

// The labels of a revision that tell which run has made it, and of which chart.
const (
	runLabel   = "salve-run"
	chartLabel = "salve-chart"
)

// Revision is one of a release, as Helm keeps it. Its values and its manifest may hold secrets.
type Revision struct {
	Number              int
	Status, Description string
	// Began is when what made it began, by the clock of whoever made it.
	Began time.Time
	// Run and Chart are what the labels say; empty where Salve has not made the revision.
	Run, Chart string
	Values     map[string]any
	Manifest   string
}

// Pending tells whether an install, an upgrade or a rollback goes on, or was cut off.
func (r Revision) Pending() bool { return rcommon.Status(r.Status).IsPending() }

// Deployed is Helm's word for the revision that is in the cluster.
const Deployed = string(rcommon.StatusDeployed)

// uninstalled: its history was kept, and nothing else.
func (r Revision) uninstalled() bool { return r.Status == string(rcommon.StatusUninstalled) }

// lasted: the revision was deployed once, and may be so still.
func (r Revision) lasted() bool {
	return r.Status == Deployed || r.Status == string(rcommon.StatusSuperseded)
}

// History gives the revisions of a release, the newest first; none where there is no such release.
func (c *Client) History(ctx context.Context, name string) (revisions []Revision, err error) {
	err = c.Cluster.Read(ctx, "reading the history of release "+name, func(ctx context.Context) error {
		config, err := c.configuration(ctx)
		if err != nil {
			return err
		}
		revisions, err = history(config, name)
		return err
	})
	return revisions, err
}

func history(config *action.Configuration, name string) ([]Revision, error) {
	all, err := config.Releases.History(name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var revisions []Revision
	for _, one := range all {
		kept, err := versionOne(one)
		if err != nil {
			return nil, err
		}
		if kept == nil || kept.Info == nil {
			return nil, fmt.Errorf("release %s: a revision has no status", name)
		}
		revisions = append(revisions, Revision{
			Number: kept.Version, Status: string(kept.Info.Status), Description: kept.Info.Description,
			Began: kept.Info.LastDeployed, Run: kept.Labels[runLabel], Chart: kept.Labels[chartLabel],
			Values: kept.Config, Manifest: kept.Manifest,
		})
	}
	slices.SortFunc(revisions, func(a, b Revision) int { return b.Number - a.Number })
	return revisions, nil
}

func versionOne(one ri.Releaser) (*release.Release, error) {
	switch kept := one.(type) {
	case *release.Release:
		return kept, nil
	case release.Release:
		return &kept, nil
	}
	return nil, fmt.Errorf("a release is kept as %T, which this program does not know", one)
}

// settle marks a revision that is pending as failed: who made it is known to be gone, and Helm would refuse to go on.
func settle(config *action.Configuration, name string, number int) error {
	kept, err := config.Releases.Get(name, number)
	if err != nil {
		return kube.Classify(err)
	}
	revision, err := versionOne(kept)
	if err != nil {
		return err
	}
	revision.SetStatus(rcommon.StatusFailed, "The process that began this was killed; the run that goes on replaces it")
	return kube.Classify(config.Releases.Update(revision))
}
