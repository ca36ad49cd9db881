package reference_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"salve/internal/reference"
)

// TestCommandPage: what a help says in plain text stays what it is in Markdown.
func TestCommandPage(t *testing.T) {
	root := &cobra.Command{Use: "salve"}
	drain := &cobra.Command{
		Use: "drain NODE", Short: "Drain a node", Run: func(*cobra.Command, []string) {},
		Long:    "Drain a <node> of *one* cluster.\n\n  kept\n  as it is\n\nExit codes: 0 drained.",
		Example: "  # One node\n  salve drain aks-1",
	}
	drain.Flags().String("on-block", "ask", "what to do: `wait|ask` or a_b | c")
	drain.Flags().Bool("dry-run", false, "change nothing")
	drain.Flags().String("secret", "", "not for everybody")
	if err := drain.Flags().MarkHidden("secret"); err != nil {
		t.Fatal(err)
	}
	hidden := &cobra.Command{Use: "hidden", Hidden: true, Run: drain.Run}
	root.AddCommand(drain, hidden)
	page := string(reference.Command(root))
	for _, want := range []string{
		"# salve\n", "## salve drain\n", "Drain a &lt;node> of \\*one\\* cluster.\n",
		"```text\n  kept\n  as it is\n```", "```text\nsalve drain NODE [flags]\n```",
		"```sh\n# One node\nsalve drain aks-1\n```", "| `--dry-run` | change nothing |\n",
		"| `--on-block wait\\|ask` | what to do: wait\\|ask or a\\_b \\| c (default `ask`) |\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "hidden") || strings.Contains(page, "secret") {
		t.Errorf("what is hidden is shown:\n%s", page)
	}
}
