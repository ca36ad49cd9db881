package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"salve/internal/clock"
	"salve/journal"
	"salve/kube"
	"salve/runbooks/recreatepool"
)

// bare is the API server of a cluster that has nothing but an identity.
type bare string

func (uid bare) RoundTrip(request *http.Request) (*http.Response, error) {
	status, body := http.StatusNotFound, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":404,
		"reason":"NotFound","message":"not found",
		"details":{"group":"coordination.k8s.io","kind":"leases","name":%[1]q}}`, path.Base(request.URL.Path))
	if strings.HasSuffix(request.URL.Path, "/namespaces/kube-system") {
		status = http.StatusOK
		body = fmt.Sprintf(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system","uid":%q}}`, string(uid))
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/2.0", ProtoMajor: 2, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: request,
	}, nil
}

// TestRecordInAnotherClusterIsNoLeaseInTheWorld: only where both are the same cluster one lease is enough. Those who
// act on the world and keep their records elsewhere look for it there.
func TestRecordInAnotherClusterIsNoLeaseInTheWorld(t *testing.T) {
	for name, row := range map[string]struct {
		records, world bare
		taken          bool
	}{
		"the same cluster": {"one", "one", false},
		"another cluster":  {"one", "two", true},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := func(of bare) *kube.Cluster {
				made, err := kube.ForConfig(&rest.Config{Host: "https://api.example", Transport: of}, clock.Real{})
				if err != nil {
					t.Fatal(err)
				}
				return made
			}
			flags := &journalFlags{}
			kept, err := flags.configMaps(cluster(row.records))
			if err != nil {
				t.Fatal(err)
			}
			locker, err := flags.lockerInWorld(t.Context(), &journal.Location{Backend: kept},
				func(context.Context) (*kube.Cluster, error) { return cluster(row.world), nil })
			if err != nil || (locker != nil) != row.taken {
				t.Errorf("a lease in the world is taken: %v, %v", locker != nil, err)
			}
		})
	}
}

// TestTwoFoldersHaveOneLease: while a run whose record is in one folder drains the pool, another one with its record in
// another folder, or in the cluster, is refused and changes nothing.
func TestTwoFoldersHaveOneLease(t *testing.T) {
	b := newBench(t, "wedged")
	first := b.onCluster("run", recreatepool.Name, "--pool", "system")
	var refused []string
	b.after = func(request *http.Request) {
		if request.Method != http.MethodPut || !strings.Contains(strings.ToLower(request.URL.Path), "/agentpools/") {
			return
		}
		b.after = nil
		other := append(withoutJournal(first), "--journal", t.TempDir())
		for _, arguments := range [][]string{other, withoutJournal(first)} {
			var out, log bytes.Buffer
			code := execute(&app{
				stdout: &out, stderr: &log, arguments: arguments, lookup: b.lookup, connect: b.connect,
				program: Options{Runbooks: BuiltIn()},
			})
			if code != exitFailed {
				t.Errorf("exit code %d: %s %s", code, out.String(), log.String())
			}
			refused = append(refused, log.String())
		}
	}
	b.types(exitDecided, first...)
	if len(refused) != 2 {
		t.Fatal("nobody else tried")
	}
	for _, log := range refused {
		contains(t, log, "is held by run ")
	}
}

// TestOpenRunElsewhereIsNamed: a run that stays open in a folder is open for the cluster too, until it is closed in
// both.
func TestOpenRunElsewhereIsNamed(t *testing.T) {
	b := newBench(t, "wedged")
	first := b.onCluster("run", recreatepool.Name, "--pool", "system")
	b.after = func(request *http.Request) {
		if request.Method == http.MethodPut && strings.Contains(strings.ToLower(request.URL.Path), "/agentpools/") {
			b.interruptAfter(request.Method, strings.ToLower(request.URL.Path))
			b.after(request)
		}
	}
	b.types(exitNeedsAttention, first...)
	run := b.runs()[0]
	inCluster := withoutJournal(first)
	_, log := b.types(exitNeedsAttention, inCluster...)
	contains(t, log, "conflict: run", run, b.journal, "salve runs abandon "+run+" --subscription ", " --target ")
	abandon := append([]string{"runs", "abandon", run, "--reason", "gone", "--journal", b.journal}, b.onCluster()[:6]...)
	b.types(exitDecided, abandon...)
	_, log = b.types(exitDecided, append(inCluster, "--dry-run")...)
	if strings.Contains(log, "conflict") {
		t.Error(log)
	}
	out, _ := b.types(exitDecided, inCluster...)
	contains(t, out, "Remediated aks-1/system")
}
