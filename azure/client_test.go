package azure_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/azuresim"
	"salve/internal/permit"
)

// inWorld runs a test against a scenario, on virtual time.
func inWorld(t *testing.T, yaml string, test func(*testing.T, *azure.Client, azuresim.Scenario, *azuresim.World)) {
	t.Helper()
	scenario, err := azuresim.Parse("test", []byte("shows: x\nexpect: remediated\n"+yaml))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		world, err := azuresim.New(scenario, azuresim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer world.Close()
		client, err := azure.New(azure.Options{
			Subscription: scenario.Subscription, Credential: world.Credential(), Transport: world.ARM(),
			Clock: clock.RealClock{},
		})
		if err != nil {
			t.Fatal(err)
		}
		test(t, client, scenario, world)
	})
}

func granted() permit.Permit {
	return permit.Mint(permit.Terms{
		Run: "run-1", Step: "s", Epoch: 1, Expires: time.Now().Add(time.Hour), Now: time.Now,
		Lease: func(context.Context) error { return nil },
	})
}

func TestReadsAreRepeatedWhileTheServiceStumbles(t *testing.T) {
	const getCluster = "match: {method: GET, path: '*managedClusters/aks-1'}"
	for name, row := range map[string]struct {
		fault string
		class apierr.Class
		least time.Duration
	}{
		"503 twice":            {fault: "serverError: {" + getCluster + ", first: 2, status: 503}"},
		"429 with Retry-After": {fault: "throttle: {" + getCluster + ", first: 2, retryAfter: 20s}", least: 40 * time.Second},
		"503 for good": {fault: "serverError: {" + getCluster + ", first: 1000, status: 503}",
			class: apierr.Transient},
		"403 is not repeated": {fault: "deny: {" + getCluster + "}", class: apierr.Denied},
		"a late answer":       {fault: "hang: {" + getCluster + ", first: 1, for: 1h}", least: 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, "faults:\n  - "+row.fault+"\n", func(
				t *testing.T, client *azure.Client, in azuresim.Scenario, _ *azuresim.World,
			) {
				start := time.Now()
				_, err := client.Cluster(context.Background(), in.ResourceGroup, in.Cluster)
				if (err != nil) != (row.class != "") || err != nil && apierr.ClassOf(err) != row.class {
					t.Errorf("got %v of class %s, want class %q", err, apierr.ClassOf(err), row.class)
				}
				if took := time.Since(start); took < row.least || took > 3*time.Minute {
					t.Errorf("took %s", took)
				}
			})
		})
	}
}

func TestNoPermitNoRequest(t *testing.T) {
	inWorld(t, "", func(t *testing.T, client *azure.Client, in azuresim.Scenario, world *azuresim.World) {
		name := azure.PoolName{ResourceGroup: in.ResourceGroup, Cluster: in.Cluster, Pool: "system"}
		expired := permit.Mint(permit.Terms{
			Expires: time.Now(), Now: time.Now, Lease: func(context.Context) error { return nil },
		})
		for what, voided := range map[string]permit.Permit{"zero": {}, "expired": expired} {
			_, err := client.DeletePool(permit.NewContext(context.Background(), voided), name, "etag", azure.DeletePoolOptions{})
			if apierr.ClassOf(err) != apierr.Conflict || err == nil {
				t.Errorf("%s permit: %v", what, err)
			}
		}
		if calls := world.Calls(); len(calls) > 0 {
			t.Errorf("requests were sent: %v", calls)
		}
	})
}

func TestChangesCarryThePermitAndTheirCondition(t *testing.T) {
	inWorld(t, "", func(t *testing.T, client *azure.Client, in azuresim.Scenario, world *azuresim.World) {
		ctx, allowed := context.Background(), granted()
		name := azure.PoolName{ResourceGroup: in.ResourceGroup, Cluster: in.Cluster, Pool: "workers"}
		definition, err := client.Definition(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		body, err := definition.Sanitized("")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.CreatePool(permit.NewContext(ctx, allowed), name, body); apierr.ClassOf(err) != apierr.Conflict {
			t.Errorf("creating what exists: %v", err)
		}
		_, err = client.DeletePool(permit.NewContext(ctx, allowed), name, "another", azure.DeletePoolOptions{})
		if apierr.ClassOf(err) != apierr.Conflict {
			t.Errorf("deleting what somebody changed: %v", err)
		}
		operation, err := client.DeletePool(permit.NewContext(ctx, allowed), name, definition.ETag(),
			azure.DeletePoolOptions{})
		if err != nil {
			t.Fatal(err)
		}
		token, ok := operation.Token()
		if !ok {
			t.Fatal("no resume token")
		}
		resumed, err := client.Resume(token,
			azure.PoolID(azure.ClusterID(in.Subscription, in.ResourceGroup, in.Cluster), "workers"))
		if err != nil {
			t.Fatal(err)
		}
		if err := resumed.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Definition(ctx, name); apierr.ClassOf(err) != apierr.Missing {
			t.Errorf("after the deletion: %v", err)
		}
		for _, call := range world.Calls() {
			if call.Mutating && call.RequestID != allowed.ID() {
				t.Errorf("%s %s carries %q, not the permit", call.Verb, call.Resource, call.RequestID)
			}
		}
	})
}

func TestUnknownPropertiesReachARM(t *testing.T) {
	inWorld(t, "pools:\n  - {name: system, mode: System, count: 2, properties: {propertyOfTheFuture: {a: 1}}}\n",
		func(t *testing.T, client *azure.Client, in azuresim.Scenario, world *azuresim.World) {
			ctx := context.Background()
			name := azure.PoolName{ResourceGroup: in.ResourceGroup, Cluster: in.Cluster, Pool: "system"}
			definition, err := client.Definition(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			body, err := definition.Sanitized("")
			if err != nil {
				t.Fatal(err)
			}
			name.Pool = "copy"
			operation, err := client.CreatePool(permit.NewContext(ctx, granted()), name, body)
			if err != nil {
				t.Fatal(err)
			}
			if err := operation.Wait(ctx); err != nil {
				t.Fatal(err)
			}
			for _, pool := range world.Snapshot().Pools {
				if !strings.Contains(string(pool.Definition), `"propertyOfTheFuture":{"a":1}`) {
					t.Errorf("pool %s: %s", pool.Name, pool.Definition)
				}
			}
		})
}

func TestQuotaIsToldFromCapacity(t *testing.T) {
	for _, row := range []struct {
		fault string
		quota bool
	}{{"quota: {pool: copy, over: 1}", true}, {"capacity: {pool: copy, code: AllocationFailed}", false}} {
		inWorld(t, "faults:\n  - "+row.fault+"\n", func(
			t *testing.T, client *azure.Client, in azuresim.Scenario, _ *azuresim.World,
		) {
			ctx := context.Background()
			name := azure.PoolName{ResourceGroup: in.ResourceGroup, Cluster: in.Cluster, Pool: "workers"}
			definition, err := client.Definition(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			body, err := definition.Sanitized("")
			if err != nil {
				t.Fatal(err)
			}
			name.Pool = "copy"
			operation, err := client.CreatePool(permit.NewContext(ctx, granted()), name, body)
			if err == nil {
				err = operation.Wait(ctx)
			}
			if apierr.ClassOf(err) != apierr.Terminal || azure.RefusedByQuota(err) != row.quota {
				t.Errorf("%s: class %s, by quota %v: %v", row.fault, apierr.ClassOf(err), azure.RefusedByQuota(err), err)
			}
		})
	}
}
