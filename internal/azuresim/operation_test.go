package azuresim_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"salve/internal/azuresim"
)

func (a *azure) abort(t *testing.T) {
	t.Helper()
	poller, err := a.clusters.BeginAbortLatestOperation(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := poller.PollUntilDone(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func TestAbortMakesClusterAndPoolCanceled(t *testing.T) {
	inWorld(t, builtIn(t, "stuck-operation"), func(t *testing.T, a *azure) {
		_, err := a.put(t.Context(), "standin", systemPool(1), nil)
		wantError(t, err, http.StatusConflict, "OperationNotAllowed")
		a.abort(t)
		if took := time.Since(a.start); took < 20*time.Second || took > 24*time.Second {
			t.Fatalf("the abort took %s, want 20s", took)
		}
		state := a.world.Snapshot()
		if state.Cluster.ProvisioningState != "Canceled" || state.Pools[0].ProvisioningState != "Canceled" ||
			state.Pools[1].ProvisioningState != "Succeeded" {
			t.Fatalf("cluster %s, pools %s and %s", state.Cluster.ProvisioningState, state.Pools[0].ProvisioningState,
				state.Pools[1].ProvisioningState)
		}
		a.createStandIn(t, 1)
	})
}

func TestAbortWithNothingToAbortSaysSo(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		a.abort(t)
		if started := len(a.world.Operations()); started != 0 {
			t.Fatalf("%d operations, want none", started)
		}
	})
}

func TestPreconditions(t *testing.T) {
	inWorld(t, builtIn(t, "wedged"), func(t *testing.T, a *azure) {
		source := a.pool(t, "system")
		_, err := a.put(t.Context(), "system", source, to.Ptr("stale"))
		wantError(t, err, http.StatusConflict, "EtagMismatch")
		_, err = a.put(t.Context(), "missing", systemPool(1), to.Ptr("any"))
		wantError(t, err, http.StatusPreconditionFailed, "PreconditionFailed")
		onlyNew := policy.WithHTTPHeader(t.Context(), http.Header{"If-None-Match": {"*"}})
		_, err = a.put(onlyNew, "system", source, nil)
		wantError(t, err, http.StatusPreconditionFailed, "PreconditionFailed")
		if _, err := a.put(onlyNew, "standin", systemPool(1), nil); err != nil {
			t.Fatal(err)
		}
		_, err = a.put(onlyNew, "standin", systemPool(1), nil)
		wantError(t, err, http.StatusPreconditionFailed, "PreconditionFailed")
	})
}

func TestEveryChangeGivesANewETag(t *testing.T) {
	inWorld(t, builtIn(t, "wedged"), func(t *testing.T, a *azure) {
		seen := map[string]bool{}
		for range 3 {
			cluster := a.cluster(t)
			for _, etag := range []string{*cluster.ETag, *cluster.Properties.AgentPoolProfiles[0].ETag} {
				if seen[etag] {
					t.Fatalf("ETag %s was seen before", etag)
				}
				seen[etag] = true
			}
			poller, err := a.put(t.Context(), "system", a.pool(t, "system"), a.pool(t, "system").Properties.ETag)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := poller.PollUntilDone(t.Context(), nil); err == nil {
				t.Fatal("a write of a corrupted scale set succeeded")
			}
		}
	})
}

func TestAWriteToACorruptedScaleSetFailsAgainAndAgain(t *testing.T) {
	inWorld(t, builtIn(t, "wedged"), func(t *testing.T, a *azure) {
		poller, err := a.put(t.Context(), "system", a.pool(t, "system"), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = poller.PollUntilDone(t.Context(), nil)
		wantError(t, err, http.StatusOK, "ReconcileVMSSAgentPoolFailed")
		time.Sleep(2 * time.Minute)
		if got := failedWrites(a.events(t, a.start)); got != 2 {
			t.Fatalf("%d failed writes during an update of 2 minutes, want 2", got)
		}
	})
}

// TestFieldsOfTheFutureSurvive: what the scenario's pools have, its AKS knows, and keeps digit by digit.
func TestFieldsOfTheFutureSurvive(t *testing.T) {
	future := parsed(t, "pools:\n  - {name: system, mode: System, properties: {fromTheFuture: {depth: 1}}}\n  - {name: "+
		"workers}\n")
	inWorld(t, future, func(t *testing.T, a *azure) {
		pipeline := runtime.NewPipeline("test", "1", runtime.PipelineOptions{},
			&policy.ClientOptions{Transport: a.world.Transport()})
		path := "https://management.azure.com" + *a.cluster(t).ID + "/agentPools/future?api-version=2025-02-01"
		request, err := runtime.NewRequest(t.Context(), http.MethodPut, path)
		if err != nil {
			t.Fatal(err)
		}
		request.Raw().Header.Set("Authorization", "Bearer any")
		body := map[string]any{
			"properties": map[string]any{"vmSize": "Standard_D4s_v5", "count": 1, "fromTheFuture": map[string]any{"depth": 12345678901234567}},
		}
		if err := runtime.MarshalAsJSON(request, body); err != nil {
			t.Fatal(err)
		}
		response, err := pipeline.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := runtime.Payload(response)
		if err != nil || response.StatusCode != http.StatusCreated || !strings.Contains(string(text),
			`"fromTheFuture":{"depth":12345678901234567}`) {
			t.Fatalf("%d %s %v", response.StatusCode, text, err)
		}
		last := a.world.Snapshot().Pools[2]
		if !json.Valid(last.Definition) || !strings.Contains(string(last.Definition), "12345678901234567") {
			t.Fatalf("definition %s", last.Definition)
		}
	})
}

func TestRefusalsOfAKS(t *testing.T) {
	inWorld(t, builtIn(t, "quota"), func(t *testing.T, a *azure) {
		_, err := a.pools.BeginDelete(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, "system", nil)
		wantError(t, err, http.StatusBadRequest, "MustDefineAtLeastOneSystemPool")
		_, err = a.put(t.Context(), "standin", systemPool(2), nil)
		wantError(t, err, http.StatusBadRequest, "ErrCode_InsufficientVCPUQuota")
		windows := systemPool(1)
		windows.Properties.OSType = to.Ptr(armcontainerservice.OSTypeWindows)
		for name, pool := range map[string]armcontainerservice.AgentPool{
			"Upper": systemPool(1), "toolongforaks": systemPool(1), "windows": windows,
			"none": {Properties: &armcontainerservice.ManagedClusterAgentPoolProfileProperties{}}, "zero": systemPool(0),
		} {
			_, err := a.put(t.Context(), name, pool, nil)
			wantError(t, err, http.StatusBadRequest, "InvalidParameter")
		}
		if _, err := a.put(t.Context(), "standin", systemPool(1), nil); err != nil {
			t.Fatal(err)
		}
	})
}

func TestWithoutCapacityACreationEndsFailed(t *testing.T) {
	inWorld(t, builtIn(t, "no-capacity"), func(t *testing.T, a *azure) {
		poller, err := a.put(t.Context(), "standin", systemPool(1), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = poller.PollUntilDone(t.Context(), nil)
		wantError(t, err, http.StatusOK, "AllocationFailed")
		if state := *a.pool(t, "standin").Properties.ProvisioningState; state != "Failed" {
			t.Fatalf("the pool is %s, want Failed", state)
		}
		a.deletePool(t, "standin")
	})
}

func TestRefusalsOfARM(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		_, err := a.clusters.Get(t.Context(), a.scenario.ResourceGroup, "other", nil)
		wantError(t, err, http.StatusNotFound, "ResourceNotFound")
		_, err = a.clusters.Get(t.Context(), "other", a.scenario.Cluster, nil)
		wantError(t, err, http.StatusNotFound, "ResourceGroupNotFound")
		_, err = a.pools.Get(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, "other", nil)
		wantError(t, err, http.StatusNotFound, "NotFound")

		path := "https://management.azure.com" + *a.cluster(t).ID
		for _, row := range []struct {
			path   string
			token  string
			status int
			code   string
		}{
			{path + "?api-version=2025-02-01", "", 401, "AuthenticationFailed"},
			{path, "Bearer x", 400, "MissingApiVersionParameter"},
			{path + "?api-version=latest", "Bearer x", 400, "InvalidApiVersionParameter"},
			{path + "?api-version=1999-01-01", "Bearer x", 400, "NoRegisteredProviderFound"},
			{path + "/unheardOf?api-version=2025-02-01", "Bearer x", 501, "NotImplemented"},
			{strings.ToUpper(path) + "?api-version=2025-02-01", "Bearer x", 404, "SubscriptionNotFound"},
		} {
			row.path = strings.Replace(row.path, "HTTPS://", "https://", 1)
			if row.code == "SubscriptionNotFound" {
				row.path = strings.Replace(row.path, strings.ToUpper(a.scenario.Subscription), "0", 1)
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, row.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if row.token != "" {
				request.Header.Set("Authorization", row.token)
			}
			response, err := a.world.Transport().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			wantError(t, runtime.NewResponseError(response), row.status, row.code)
		}
	})
}

func TestGreenfield(t *testing.T) {
	inWorld(t, builtIn(t, "greenfield"), func(t *testing.T, a *azure) {
		_, err := a.clusters.Get(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, nil)
		wantError(t, err, http.StatusNotFound, "ResourceNotFound")
	})
}

func TestALostResponseIsANetworkErrorAfterTheChange(t *testing.T) {
	inWorld(t, builtIn(t, "lost-response"), func(t *testing.T, a *azure) {
		_, err := a.put(t.Context(), "standin", systemPool(1), nil)
		var network *url.Error
		if !errors.As(err, &network) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("got %v, want a network error", err)
		}
		if state := *a.pool(t, "standin").Properties.ProvisioningState; state != "Creating" {
			t.Fatalf("the pool is %s, want Creating", state)
		}
	})
}

func TestInterceptDecidesTheFateOfEveryCall(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		fates := map[string]azuresim.Verdict{"before": azuresim.DropBefore, "after": azuresim.DropAfter}
		a.world.Intercept(func(call azuresim.Call) azuresim.Verdict {
			_ = a.world.Snapshot() // the hook may use the world
			return fates[call.Resource[strings.LastIndex(call.Resource, "/")+1:]]
		})
		_, err := a.put(t.Context(), "before", systemPool(1), nil)
		var broken *net.OpError
		if !errors.As(err, &broken) {
			t.Fatalf("got %v, want a network error", err)
		}
		if _, err = a.put(t.Context(), "after", systemPool(1), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("got %v, want a lost answer", err)
		}
		calls := a.world.Calls()
		if len(calls) != 2 || calls[0].Status != 0 || calls[1].Status != http.StatusCreated || !calls[1].Mutating {
			t.Fatalf("calls %+v", calls)
		}
		if pools := a.world.Snapshot().Pools; len(pools) != 3 || pools[2].Name != "after" {
			t.Fatalf("pools %+v", pools)
		}
	})
}

func TestThrottlingNamesWhenToRetry(t *testing.T) {
	inWorld(t, builtIn(t, "throttled"), func(t *testing.T, a *azure) {
		for range 2 {
			_, err := a.clusters.Get(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, nil)
			wantError(t, err, http.StatusTooManyRequests, "TooManyRequests")
		}
		a.cluster(t)
	})
}

func TestAHungCallEndsWithItsContext(t *testing.T) {
	scenario := parsed(t, "faults:\n  - hang: {match: {method: GET}, for: 10m}\n"+
		"  - serverError: {match: {method: PUT}, status: 503}\n")
	inWorld(t, scenario, func(t *testing.T, a *azure) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := a.clusters.Get(ctx, a.scenario.ResourceGroup, a.scenario.Cluster, nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(a.start) != time.Minute {
			t.Fatalf("got %v after %s", err, time.Since(a.start))
		}
		a.cluster(t)
		_, err = a.put(t.Context(), "standin", systemPool(1), nil)
		wantError(t, err, http.StatusServiceUnavailable, "InternalServerError")
	})
}

func TestAKSGoesFirstWhenItWaitedLonger(t *testing.T) {
	inWorld(t, builtIn(t, "busy"), func(t *testing.T, a *azure) {
		a.createStandIn(t, 1)
		_, err := a.pools.BeginDelete(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, "system", nil)
		wantError(t, err, http.StatusConflict, "OperationNotAllowed")
		time.Sleep(90 * time.Second)
		a.deletePool(t, "system")
		if by := a.world.Operations()[1].By; by != "aks" {
			t.Fatalf("the second operation is by %s, want aks", by)
		}
	})
}

func TestAPoolCanRecoverByItself(t *testing.T) {
	inWorld(t, builtIn(t, "recovers-by-itself"), func(t *testing.T, a *azure) {
		time.Sleep(2 * time.Minute)
		if state := a.world.Snapshot(); state.Pools[0].ProvisioningState != "Succeeded" ||
			state.Cluster.ProvisioningState != "Succeeded" || a.readyNodes("system") != 5 {
			t.Fatalf("pool %+v, %d nodes Ready", state.Pools[0], a.readyNodes("system"))
		}
	})
}
