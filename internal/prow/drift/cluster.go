package drift

import (
	"context"
	"slices"
	"time"

	"salve/internal/clock"
	"salve/internal/prow/blocked"
	"salve/internal/prow/check"
	"salve/internal/prow/protector"
)

// ReadProtector asks Prow's own cluster which branchprotectors are deployed and at work. What has no answer says so.
func ReadProtector(ctx context.Context, cluster *protector.Reader) *check.Protector {
	ctx, cancel := clock.WithTimeout(ctx, cluster.Cluster.Clock, protectorLimit)
	defer cancel()
	seen := &check.Protector{}
	images, err := cluster.Images(ctx)
	if err != nil {
		seen.DeployedFailed = err.Error()
	}
	seen.Deployed = images.Deployed
	runs, err := cluster.Active(ctx)
	if err != nil {
		seen.RunsFailed = err.Error()
	}
	for _, run := range runs {
		seen.Runs = append(seen.Runs, check.ProtectorRun{What: run.What, Image: run.Image})
	}
	return seen
}

// protectorLimit is how long Prow's own cluster is waited for: GitHub is asked even where nobody answers there.
const protectorLimit = 10 * time.Second

const (
	// jobsLimit is how long the ProwJobs are waited for: there may be tens of thousands.
	jobsLimit = time.Minute
	// againLimit is how long they are where the cluster has just not said all: what is left of it answers at once.
	againLimit = 3 * time.Second
)

// Observe reads GitHub, and Prow's own cluster before and after it where one is given: a branchprotector that was at
// work at either end may have written meanwhile. Cluster may be nil.
func (r *Reader) Observe(ctx context.Context, cluster *protector.Reader, facts check.Facts) check.Facts {
	if cluster == nil {
		facts.GitHub = r.Read(ctx, facts)
		return facts
	}
	before := ReadProtector(ctx, cluster)
	limit := jobsLimit
	if before.RunsFailed != "" {
		limit = againLimit
	}
	facts.GitHub = r.read(ctx, facts, func(ctx context.Context) *blocked.Jobs {
		ctx, cancel := clock.WithTimeout(ctx, cluster.Cluster.Clock, limit)
		defer cancel()
		return readJobs(ctx, cluster.Cluster, facts.Now.Partial().ProwJobNamespace.Value)
	})
	facts.Protector = ReadProtector(ctx, cluster)
	if facts.Protector.RunsFailed == "" {
		facts.Protector.RunsFailed = before.RunsFailed
	}
	for _, run := range before.Runs {
		if !slices.Contains(facts.Protector.Runs, run) {
			facts.Protector.Runs = append(facts.Protector.Runs, run)
		}
	}
	return facts
}
