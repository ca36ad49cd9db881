package served_test

import (
	"net/http"
	"strings"
	"testing"

	"salve/internal/azuresim"
	"salve/internal/kubetest"
)

func TestTheControlEndpoint(t *testing.T) {
	server := serve(t, kubetest.Start(t), apps, nil)
	anybody := login(t, server)

	t.Run("lists every request that came, in order", func(t *testing.T) {
		anybody.ask(t, "GET", inCluster+version, "")
		anybody.ask(t, "PUT", inCluster+"/agentPools/UPPER"+version, "{}")
		var told struct{ Calls []azuresim.Call }
		control(t, server, "GET", "calls?api=arm", "", &told)
		if len(told.Calls) != 2 {
			t.Fatalf("calls %+v", told.Calls)
		}
		read, write := told.Calls[0], told.Calls[1]
		if read.Verb != "GET" || read.Resource != inCluster || read.Status != 200 || read.Mutating ||
			read.At.IsZero() || read.RequestID == "" {
			t.Errorf("the read is %+v", read)
		}
		if write.Verb != "PUT" || write.Status != 400 || !write.Mutating || write.Seq <= read.Seq {
			t.Errorf("the write is %+v", write)
		}
		var later struct{ Calls []azuresim.Call }
		control(t, server, "GET", "calls?after=2", "", &later)
		if len(later.Calls) != 1 || later.Calls[0].Seq != 3 {
			t.Errorf("after the second: %+v", later.Calls)
		}
	})

	t.Run("injects a fault and lifts it", func(t *testing.T) {
		if status := control(t, server, "POST", "faults", `{"serverError": {"match": {"method": "GET"}, "first": 100, "status": 503}}`, nil); status != http.StatusNoContent {
			t.Fatalf("injecting: %d", status)
		}
		if got := anybody.ask(t, "GET", inCluster+version, ""); got.status != http.StatusServiceUnavailable {
			t.Errorf("with the fault: %d", got.status)
		}
		if status := control(t, server, "DELETE", "faults", "", nil); status != http.StatusNoContent {
			t.Fatalf("lifting: %d", status)
		}
		if got := anybody.ask(t, "GET", inCluster+version, ""); got.status != http.StatusOK {
			t.Errorf("without it: %d", got.status)
		}
	})

	t.Run("loses an answer after the change happened", func(t *testing.T) {
		control(t, server, "POST", "faults", "lostResponse: {match: {method: PUT}}\n", nil)
		request, err := http.NewRequestWithContext(t.Context(), "PUT", server.URL()+inCluster+"/agentPools/lost"+version,
			strings.NewReader(`{"properties":{"count":1,"vmSize":"Standard_D4ds_v5"}}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer any")
		if response, err := anybody.Do(request); err == nil {
			_ = response.Body.Close()
			t.Errorf("it was answered: %d", response.StatusCode)
		}
		var told struct{ Operations []azuresim.Operation }
		control(t, server, "GET", "operations", "", &told)
		if len(told.Operations) != 1 || told.Operations[0].Kind != "create" ||
			!strings.HasSuffix(told.Operations[0].Resource, "/agentPools/lost") {
			t.Errorf("operations %+v", told.Operations)
		}
	})

	t.Run("refuses an invalid fault", func(t *testing.T) {
		for text, want := range map[string]string{
			"":                                     "there is no fault in it",
			"earthquake: {}":                       `unknown field "earthquake"`,
			"{}":                                   "a fault has exactly one kind, this one has 0",
			"recovers: {pool: none, at: 1s}":       `no pool is named "none"`,
			"throttle: {match: {api: kubernetes}}": "not seen here",
		} {
			var told struct{ Error string }
			if status := control(t, server, "POST", "faults", text, &told); status != http.StatusBadRequest ||
				!strings.Contains(told.Error, want) {
				t.Errorf("%q: %d %q, want %q", text, status, told.Error, want)
			}
		}
	})

	t.Run("shows pools and the cluster's nodes", func(t *testing.T) {
		var state azuresim.State
		control(t, server, "GET", "snapshot", "", &state)
		if len(state.Pools) != 3 || len(state.Nodes) < 5 || len(state.Pods) == 0 || !state.Cluster.Exists {
			t.Errorf("%d pools, %d nodes, %d pods", len(state.Pools), len(state.Nodes), len(state.Pods))
		}
	})
}
