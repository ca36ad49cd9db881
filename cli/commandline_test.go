package cli

import "testing"

func TestCommandToType(t *testing.T) {
	for _, test := range []struct {
		typed  []string
		dryRun string
		want   string
	}{
		{[]string{"plan", "aks-recreate-pool", "--cluster", "a b"}, "", "salve run aks-recreate-pool --cluster 'a b'"},
		{[]string{"--output", "json", "check", "aks-recreate-pool"}, "", "salve --output json run aks-recreate-pool"},
		{[]string{"run", "aks-recreate-pool", "--dry-run"}, "", "salve run aks-recreate-pool"},
		{[]string{"run", "aks-recreate-pool"}, "true", "salve run aks-recreate-pool --dry-run=false"},
		{[]string{"run", "aks-recreate-pool", "--override", "pool-wedged=it's so"}, "", `salve run aks-recreate-pool --override 'pool-wedged=it'\''s so'`},
	} {
		a := &app{arguments: test.typed, lookup: func(name string) string {
			if name == "DRY_RUN" {
				return test.dryRun
			}
			return ""
		}}
		if got := a.actCommand(); got != test.want {
			t.Errorf("after %q: %s, want %s", test.typed, got, test.want)
		}
	}
}

// TestCommandThatExecutesThePlan that a command has written, however that was typed.
func TestCommandThatExecutesThePlan(t *testing.T) {
	for _, test := range []struct {
		typed []string
		file  string
		want  string
	}{
		{[]string{"plan", "lamp-off", "-o", "p.json"}, "p.json", "salve run lamp-off --plan p.json"},
		{[]string{"run", "--dry-run", "-op.json", "x.yaml"}, "p.json", "salve run --plan p.json x.yaml"},
		{[]string{"run", "--dry-run=t", "-o=p.json", "x.yaml"}, "p.json", "salve run --plan p.json x.yaml"},
		{[]string{"run", "--output=p.json", "x.yaml", "--dry-run=true"}, "p.json", "salve run --plan p.json x.yaml"},
		{[]string{"run", "--output", "a b/p.json", "--dry-run"}, "a b/p.json", "salve run --plan 'a b/p.json'"},
		{[]string{"run", "-o", "q.json", "--plan", "p.json", "--dry-run"}, "q.json", "salve run --plan q.json"},
		{[]string{"run", "--plan=p.json", "-o", "q.json", "--dry-run"}, "q.json", "salve run --plan q.json"},
		{[]string{"run", "-o", "table", "-o", "q.json", "--dry-run"}, "q.json", "salve run --plan q.json"},
	} {
		a := &app{arguments: test.typed, lookup: func(string) string { return "" }}
		if got := a.boundCommand(test.file); got != test.want {
			t.Errorf("after %q: %s, want %s", test.typed, got, test.want)
		}
	}
}
