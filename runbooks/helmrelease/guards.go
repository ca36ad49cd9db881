package helmrelease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"salve/internal/apierr"
	"salve/internal/helm"
	"salve/kube"
	"salve/runbook"
)

// reached is the cluster that answers.
type reached struct {
	Cluster string    `json:"cluster"`
	Seen    time.Time `json:"seen"`
}

// clusterReachable asks whether the cluster answers, and is the one that the run began with: a kubeconfig may lead
// elsewhere when a run is resumed.
func (r *release) clusterReachable() runbook.Guard {
	return runbook.Ask("cluster-reachable", "does the cluster answer, and is it the one that is meant?",
		func(ctx context.Context, _ runbook.Run) (reached, error) {
			id, err := r.Kubernetes.ID(ctx)
			return reached{Cluster: id, Seen: r.Clock.Now()}, err
		}, r.Inputs.clusterReachable)
}

func (in Inputs) clusterReachable(seen reached) runbook.Finding {
	evidence := runbook.NewEvidence("namespace kube-system", seen.Cluster, seen.Seen, nil)
	if seen.Cluster != in.Cluster {
		return runbook.No("another cluster answers, %s: the run is for %s", seen.Cluster, in.Cluster).
			WithOutcome(runbook.Failed).NotOverridable().WithEvidence(evidence)
	}
	return runbook.Yes("cluster %s answers", in.ClusterName).WithEvidence(evidence)
}

// standing is the newest revision of the release, beside what this run has to do.
type standing struct {
	// Found tells whether there is a revision; what follows is its own.
	Found    bool      `json:"found"`
	Revision int       `json:"revision"`
	Status   string    `json:"status"`
	Pending  bool      `json:"pending"`
	Began    time.Time `json:"began"`
	// StartedBy is the run that made it; empty where Salve has not made it.
	StartedBy string `json:"startedBy"`
	// SameContent: it has the chart and the values that are to be released.
	SameContent bool   `json:"sameContent"`
	Says        string `json:"says"`
	// Tried: an earlier revision is this run's.
	Tried bool `json:"tried"`
	// Run is this run.
	Run  string    `json:"run"`
	Seen time.Time `json:"seen"`
}

func (r *release) readStanding(ctx context.Context, run runbook.Run) (standing, error) {
	revisions, err := r.history(ctx)
	seen := standing{Run: run.ID(), Seen: r.Clock.Now()}
	if err != nil || len(revisions) == 0 {
		return seen, err
	}
	newest := revisions[0]
	seen.Found, seen.Revision, seen.Status, seen.Pending = true, newest.Number, newest.Status, newest.Pending()
	for _, earlier := range revisions[1:] {
		seen.Tried = seen.Tried || earlier.Run == run.ID()
	}
	seen.Began, seen.Says, seen.StartedBy = newest.Began, newest.Description, helm.Starter(revisions)
	// Values are compared themselves: of a short secret even a digest tells too much.
	seen.SameContent = newest.Chart == r.order.Chart.Digest() && helm.SameValues(newest.Values, r.order.Values)
	return seen, nil
}

func (s standing) ours() bool { return s.StartedBy == s.Run }

func (s standing) starter() string {
	if s.StartedBy == "" {
		return "somebody else, not by Salve"
	}
	return "run " + s.StartedBy
}

// nothingPending asks whether the release is free. What this run itself has left pending is no obstacle: its process is
// gone, because the lease is ours.
func (r *release) nothingPending() runbook.Guard {
	return runbook.Ask("nothing-pending", "is no install, upgrade or rollback of the release pending that others began?",
		r.readStanding, r.Inputs.nothingPending)
}

func (in Inputs) nothingPending(there standing) runbook.Finding {
	switch {
	case !there.Found:
		return runbook.Yes("there is no release %s in namespace %s yet", in.Release, in.Namespace)
	case there.Pending && !there.ours():
		return runbook.No("revision %d of release %s is %s since %s, begun by %s; hint: wait for it, or when nobody is at "+
			"work on it: helm rollback %s -n %s", there.Revision, in.Release, there.Status, moment(there.Began),
			there.starter(), in.Release, in.Namespace).WithOutcome(runbook.Deferred).WithEvidence(in.evidence(there))
	}
	return runbook.Yes("revision %d of release %s is %s", there.Revision, in.Release, there.Status).
		WithEvidence(in.evidence(there))
}

func moment(at time.Time) string {
	if at.IsZero() {
		return "an unknown time"
	}
	return at.UTC().Format(time.RFC3339)
}

func (in Inputs) evidence(there standing) runbook.Evidence {
	return runbook.NewEvidence("Helm release "+in.Namespace+"/"+in.Release, fmt.Sprint(there.Revision), there.Seen,
		map[string]any{"status": there.Status, "run": there.StartedBy, "says": there.Says})
}

// rendering is what came of the chart with the values.
type rendering struct {
	Objects int `json:"objects"`
	// Problem is why it can't be rendered, or is nothing that the cluster knows; empty when it can.
	Problem string `json:"problem"`
}

// chartRenders asks whether there is something that could be applied.
func (r *release) chartRenders() runbook.Guard {
	return runbook.Ask("chart-renders", "does the chart render with the values, to kinds that the cluster has?",
		r.readRendering, func(seen rendering) runbook.Finding {
			if seen.Problem != "" {
				return runbook.No("%s", seen.Problem).WithOutcome(runbook.Failed)
			}
			return runbook.Yes("the chart renders to %d objects", seen.Objects)
		})
}

func (r *release) readRendering(ctx context.Context, run runbook.Run) (rendering, error) {
	manifest, err := r.rendered(ctx, run)
	if err != nil && unseen(ctx, err) {
		return rendering{}, r.order.maskError(kube.Classify(err))
	}
	if err != nil {
		return rendering{Problem: r.order.mask(err.Error())}, nil
	}
	objects, err := helm.Objects(manifest)
	if err != nil {
		return rendering{Problem: err.Error()}, nil
	}
	return rendering{Objects: len(objects)}, nil
}

func (r *release) rendered(ctx context.Context, run runbook.Run) (string, error) {
	revisions, err := r.history(ctx)
	if err != nil {
		return "", err
	}
	order := helm.Order{Name: r.Release, Chart: r.order.Chart, Values: r.order.Values}
	if run != nil {
		order = r.helmOrder(run)
	}
	return r.helm.Render(ctx, order, len(revisions) > 0)
}

// unseen tells whether rendering failed for what the API server said or did not say, rather than for the chart. Helm
// tells some of that by its texts alone (pkg/action: install.go, action.go, validate.go). One that is taken for such
// makes the finding unknown, and never blames the chart.
func unseen(ctx context.Context, err error) bool {
	var classed *apierr.Error
	var status apierrors.APIStatus
	return ctx.Err() != nil || errors.As(err, &classed) || errors.As(err, &status) ||
		strings.Contains(err.Error(), "cluster reachability check failed") ||
		strings.Contains(err.Error(), "could not get")
}

// deployed is the release with what it has made.
type deployed struct {
	Release standing `json:"release"`
	Objects int      `json:"objects"`
	// NotReady are the first objects that are not there or not ready.
	NotReady []string `json:"notReady"`
}

// shown bounds how many objects are named.
const shown = 10

func (r *release) readDeployed(ctx context.Context, run runbook.Run) (seen deployed, err error) {
	if seen.Release, err = r.readStanding(ctx, run); err != nil || seen.Release.Status != helm.Deployed {
		seen.NotReady = []string{}
		return seen, err
	}
	revisions, err := r.history(ctx)
	if err != nil {
		return seen, err
	}
	if len(revisions) == 0 || revisions[0].Number != seen.Release.Revision {
		return seen, apierr.New(apierr.Conflict, "the release was changed while it was looked at")
	}
	lacking, count, err := r.helm.NotReady(ctx, revisions[0].Manifest)
	seen.Objects, seen.NotReady = count, []string{}
	for _, one := range lacking[:min(len(lacking), shown)] {
		seen.NotReady = append(seen.NotReady, r.order.mask(one))
	}
	return seen, r.order.maskError(err)
}

// releaseDeployed asks whether this run's revision is deployed, and all that it made is ready.
func (r *release) releaseDeployed() runbook.Guard {
	return runbook.Ask("release-deployed", "is the release deployed by this run, with this content, and ready?",
		r.readDeployed, r.Inputs.releaseDeployed)
}

func (in Inputs) releaseDeployed(seen deployed) runbook.Finding {
	there := seen.Release
	finding := runbook.Yes("revision %d of release %s is deployed, and its %d objects are ready", there.Revision,
		in.Release,
		seen.Objects)
	switch {
	case !there.Found:
		return runbook.No("there is no release %s in namespace %s", in.Release, in.Namespace).
			WithOutcome(runbook.NeedsAttention)
	case !there.ours():
		finding = runbook.No("revision %d of release %s was made by %s", there.Revision, in.Release, there.starter()).
			WithOutcome(runbook.NeedsAttention)
	case there.Status != helm.Deployed:
		finding = runbook.No("revision %d of release %s is %s", there.Revision, in.Release, there.Status).
			WithOutcome(runbook.NeedsAttention)
	case !there.SameContent:
		finding = runbook.No("revision %d of release %s has another chart or other values", there.Revision, in.Release).
			WithOutcome(runbook.NeedsAttention)
	case len(seen.NotReady) > 0:
		finding = runbook.No("not ready: %s", strings.Join(slices.Compact(seen.NotReady), "; ")).
			WithOutcome(runbook.NeedsAttention)
	}
	return finding.WithEvidence(in.evidence(there))
}
