package cli

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"salve/runbooks/recreatepool"
)

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
	contains(t, log, "conflict: run", run, b.journal, "salve runs abandon "+run+" --target ")
	abandon := append([]string{"runs", "abandon", run, "--reason", "gone", "--journal", b.journal}, b.onCluster()[:6]...)
	b.types(exitDecided, abandon...)
	_, log = b.types(exitDecided, append(inCluster, "--dry-run")...)
	if strings.Contains(log, "conflict") {
		t.Error(log)
	}
	out, _ := b.types(exitDecided, inCluster...)
	contains(t, out, "Remediated aks-1/system")
}
