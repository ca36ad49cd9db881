package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/journal/configmap"
	"salve/runbooks/recreatepool"
)

// TestLostRecordIsNeverNothingChanged: the journal vanishes while the pool is being deleted. The exit code is 4, nobody
// says that nothing was changed, and the definition of the pool, which only the process still knows, is in the answer.
func TestLostRecordIsNeverNothingChanged(t *testing.T) {
	for _, test := range []struct {
		name   string
		inside bool // the journal is in the cluster
		output string
	}{
		{"the folder vanishes", false, "table"},
		{"the folder vanishes, JSON is asked for", false, "json"},
		{"the namespace vanishes", true, "table"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "wedged")
			arguments := b.onCluster("run", recreatepool.Name, "--pool", "system", "--output", test.output)
			if test.inside {
				arguments = withoutJournal(arguments)
			}
			b.after = func(request *http.Request) {
				if request.Method == http.MethodDelete &&
					strings.HasSuffix(strings.ToLower(request.URL.Path), "/agentpools/system") {
					b.loseJournal(test.inside)
				}
			}
			out, log := b.types(exitNeedsAttention, arguments...)
			if said := strings.ToLower(out + log); strings.Contains(said, "nothing was changed") ||
				strings.Contains(said, "nothing was done") {
				t.Errorf("it says that nothing was changed:\n%s\n%s", out, log)
			}
			contains(t, out, "the journal can't be written any more", "steps are done", "vmSize")
			if test.output == "json" {
				var document struct {
					Exit int `json:"exitCode"`
					Runs []struct {
						Unrecorded bool
						Notes      map[string]json.RawMessage
					}
				}
				if err := json.Unmarshal([]byte(out), &document); err != nil {
					t.Fatal(err)
				}
				if document.Exit != exitNeedsAttention || !document.Runs[0].Unrecorded || len(document.Runs[0].Notes) == 0 {
					t.Errorf("the document is %s", out)
				}
			}
		})
	}
}

// withoutJournal takes --journal and its value out.
func withoutJournal(arguments []string) []string {
	for i, word := range arguments {
		if word == "--journal" {
			return append(append([]string(nil), arguments[:i]...), arguments[i+2:]...)
		}
	}
	return arguments
}

// loseJournal removes all records and leases, as somebody does who deletes the folder or the namespace.
func (b *bench) loseJournal(inside bool) {
	ctx := context.Background()
	if !inside {
		for _, folder := range []string{"runs", "leases"} {
			if err := os.RemoveAll(filepath.Join(b.journal, folder)); err != nil {
				b.t.Error(err)
			}
		}
		return
	}
	client := b.world.Kubernetes()
	maps, err := client.CoreV1().ConfigMaps(configmap.DefaultNamespace).List(ctx, metav1.ListOptions{})
	if err != nil || len(maps.Items) == 0 {
		b.t.Errorf("%d ConfigMaps, %v", len(maps.Items), err)
	}
	for _, one := range maps.Items {
		if err := client.CoreV1().ConfigMaps(one.Namespace).Delete(ctx, one.Name, metav1.DeleteOptions{}); err != nil {
			b.t.Error(err)
		}
	}
}

// TestAnErrorAfterARunBeganIsNoWrongUsage: the first pool was recreated when the command was interrupted.
func TestAnErrorAfterARunBeganIsNoWrongUsage(t *testing.T) {
	b := newBench(t, "two-pools")
	b.after = func(request *http.Request) {
		if request.Method == http.MethodPut && strings.HasSuffix(strings.ToLower(request.URL.Path), "/agentpools/infra") {
			b.after = nil
			b.loseJournal(false)
		}
	}
	out, log := b.types(exitNeedsAttention, b.onCluster("run", recreatepool.Name, "--role", "system")...)
	if strings.Contains(out+log, "nothing was changed") {
		t.Errorf("it says that nothing was changed:\n%s\n%s", out, log)
	}
}
