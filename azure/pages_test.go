package azure_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"salve/azure"
	"salve/internal/azuresim"
)

// TestAPageThatFailsIsAskedForAgain: once the service answers, the list goes on
// from the page that failed, as if nothing had been.
func TestAPageThatFailsIsAskedForAgain(t *testing.T) {
	undisturbed, _ := readLog(t, "", 0)
	if len(undisturbed) < 9 {
		t.Fatalf("only %d events", len(undisturbed))
	}
	for name, row := range map[string]struct {
		faults string
		lost   int
	}{
		"503 for the first page": {
			faults: "faults: [{serverError: {match: {path: '*eventtypes*'}, first: 2, status: 503}}]",
		},
		"429 for the first page": {
			faults: "faults: [{throttle: {match: {path: '*eventtypes*'}, first: 1, retryAfter: 5s}}]",
		},
		"the first answer is lost":        {lost: 1},
		"an answer in the middle is lost": {lost: 3},
	} {
		t.Run(name, func(t *testing.T) {
			seen, took := readLog(t, row.faults, row.lost)
			if !slices.Equal(seen, undisturbed) {
				t.Errorf("seen were %q, not %q", seen, undisturbed)
			}
			if took == 0 || took > time.Minute {
				t.Errorf("it took %s: not the request was repeated, but its failure", took)
			}
		})
	}
}

// readLog gives the IDs of a log's events as they were read, in pages of two. The
// answer to the request of that number is lost.
func readLog(t *testing.T, faults string, lost int) (seen []string, took time.Duration) {
	t.Helper()
	const world = `
pools:
  - {name: system, mode: System, count: 3, state: Failed, corrupted: true, failedWrites: {events: 9, every: 10s, last: 2m}}
activityLog: {quiet: true, pageSize: 2}
`
	inWorld(t, world+faults, func(t *testing.T, client *azure.Client, in azuresim.Scenario, world *azuresim.World) {
		cluster, err := client.Cluster(context.Background(), in.ResourceGroup, in.Cluster)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		world.Intercept(func(azuresim.Call) azuresim.Verdict {
			if asked++; asked == lost {
				return azuresim.DropAfter
			}
			return azuresim.Proceed
		})
		start := time.Now()
		query := azure.ActivityQuery{From: start.Add(-time.Hour), To: start, Of: cluster.NodeResourceGroup}
		err = client.ReadActivity(context.Background(), query, func(event azure.Activity) bool {
			seen = append(seen, event.ID)
			return true
		})
		if err != nil {
			t.Errorf("after %d events: %v", len(seen), err)
		}
		took = time.Since(start)
	})
	return seen, took
}
