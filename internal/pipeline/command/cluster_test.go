package command_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"salve/internal/pipeline"
	"salve/journal"
)

// TestAClusterOfAStep: what leads there is the step's alone, is gone with it, and yields to what is passed on.
func TestAClusterOfAStep(t *testing.T) {
	const script = `test "$(cat "$KUBECONFIG")" = hush-hush
test "$(stat -c %a "$KUBECONFIG")" = 600 -a "$AKSCluster" = aks-1 -a "$ResourceGroup" = r -a -z "${Subscription:-}"
echo "file=$KUBECONFIG" >> "$SALVE_OUTPUT"`
	s := newShop(t, script, "aksCluster: aks-1")
	asked := 0
	s.action.Kubeconfig = func(context.Context, *pipeline.Step) ([]byte, error) {
		asked++
		return []byte("hush-hush"), nil
	}
	outcome := s.run()
	if outcome.Result != journal.Done || asked != 1 {
		t.Fatalf("%s: %s, asked %d times", outcome.Result, outcome.Reason, asked)
	}
	file, _ := outcome.Outputs["file"].Value.(string)
	after := newShop(t, "test ! -e "+file+" -a -z \"${KUBECONFIG:-}\"")
	after.action.Kubeconfig = s.action.Kubeconfig
	if outcome := after.run(); outcome.Result != journal.Done || asked != 1 {
		t.Errorf("the next step: %s: %s, asked %d times", outcome.Result, outcome.Reason, asked)
	}

	passed := newShop(t, `test "$KUBECONFIG" = /my/own`, "aksCluster: aks-1")
	passed.action.Kubeconfig, passed.action.Pass = s.action.Kubeconfig, []string{"KUBECONFIG"}
	passed.action.Environment = append(passed.action.Environment, "KUBECONFIG=/my/own")
	if outcome := passed.run(); outcome.Result != journal.Done || asked != 1 {
		t.Errorf("what is passed on: %s: %s, asked %d times", outcome.Result, outcome.Reason, asked)
	}

	denied := newShop(t, "true", "aksCluster: aks-1")
	denied.action.Kubeconfig = func(context.Context, *pipeline.Step) ([]byte, error) {
		return nil, errors.New("forbidden")
	}
	if outcome := denied.run(); outcome.Result != journal.Failure || !outcome.Refused ||
		!strings.Contains(outcome.Reason, "access to cluster aks-1: forbidden") {
		t.Errorf("%s: %s", outcome.Result, outcome.Reason)
	}
}
