package catalogue_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/catalogue"
)

// sample is a group as a run leaves it: times and names change, and waiting is nothing that only failures do.
func sample() catalogue.Sample {
	text := func(second int, rest string) string {
		const log = "=== RUN TestNode\n12:00:%02d waiting for node aks-%d to be ready\n%s--- end\n"
		return fmt.Sprintf(log, second, second, rest)
	}
	failing := func(second int) string {
		line := "12:01:%02d kubelet: certificate request csr-%d was denied by the approver: no such node\n"
		return text(second, fmt.Sprintf(line, second, second*7))
	}
	return catalogue.Sample{
		Message: "waiting for node <node> to be ready: certificate request <name> was denied by the approver: no such node",
		Failing: []string{failing(3), failing(14), failing(15)},
		Passing: []string{text(21, "certificate request csr-1 was approved\n"), text(22, "")},
		Place:   "test/e2e/node.go:211",
	}
}

func TestProposeTakesWhatFailuresShareAndPassingScenariosLack(t *testing.T) {
	got, err := catalogue.Propose(sample())
	if err != nil {
		t.Fatal(err)
	}
	want := `signatures:
    - id: was-denied-by-the-approver-no-such-node
      title: 'waiting for node <node> to be ready: certificate request <name> was denied by the approver: no such node'
      class: test # TODO: infrastructure, product or test
      owner: 'TODO: who is told'
      action: 'TODO: what to do'
      all:
        - 'was denied by the approver: no such node'
      place: test/e2e/node.go:211
      examples:
        match:
            - '12:01:03 kubelet: certificate request csr-21 was denied by the approver: no such node'
        noMatch:
            - certificate request csr-1 was approved
            - 12:00:21 waiting for node aks-21 to be ready
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestAProposalIsACatalogue: it loads, lint finds nothing, and it finds all failures and no scenario that passes.
func TestAProposalIsACatalogue(t *testing.T) {
	s := sample()
	s.Place = ""
	text, err := catalogue.Propose(s)
	if err != nil {
		t.Fatal(err)
	}
	c := parse(t, text)
	if found := catalogue.Lint(c, catalogue.LintOptions{Now: today}); len(found) > 0 {
		t.Error(found)
	}
	for i, text := range append(s.Failing, s.Passing...) {
		if shown := hits(c, find(t, c, "a.log", text)) != ""; shown != (i < len(s.Failing)) {
			t.Errorf("text %d: %v", i, shown)
		}
	}
}

func TestTheClassIsWhatIsKnown(t *testing.T) {
	s := sample()
	s.Class = catalogue.Infrastructure
	got, err := catalogue.Propose(s)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got, "      class: infrastructure\n") {
		t.Error(got)
	}
}

func TestNoLiteralGoesOverAMask(t *testing.T) {
	const text = "login with [redacted] was denied by the gateway"
	got, err := catalogue.Propose(catalogue.Sample{Message: text, Failing: []string{text, text}, Mask: "[redacted]"})
	if err != nil {
		t.Fatal(err)
	}
	all := parse(t, got).All()[0].All
	if want := []string{"was denied by the gateway", "login with"}; !cmp.Equal(all, want) {
		t.Errorf("%q", all)
	}
}

// TestAProposalIsShort, and has nothing that steers a terminal, whatever the texts are.
func TestAProposalIsShort(t *testing.T) {
	const message = "\x1b[31mconnection refused\x1b[0m after"
	filler := strings.Repeat("filler ", 1000)
	text := filler + "connection \x1b[4mrefused" + " after " + filler
	got, err := catalogue.Propose(catalogue.Sample{
		Message: message + " " + strings.Repeat("x", 300), Failing: []string{text, text + " after"},
		Passing: []string{filler + " waiting"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := parse(t, got).All()[0]
	want := "connection refused after " + strings.Repeat("x", 95) + "…"
	if s.Title != want || len(got) > 1000 || s.Examples.Match[0] != s.All[0] {
		t.Error(got)
	}
	long := strings.Repeat("word and ", 60)
	got, err = catalogue.Propose(catalogue.Sample{
		Message: long + "refused\nwaiting for it", Failing: []string{long + "refused\nwaiting for it"},
		Passing: []string{filler + "waiting \x1b[1mfor it " + filler},
	})
	if err != nil {
		t.Fatal(err)
	}
	if s := parse(t, got).All()[0]; !cmp.Equal(s.Examples.NoMatch, []string{"waiting for it"}) || len(s.ID) > 40 {
		t.Error(got)
	}
}

func TestProposeSaysWhenThereIsNothingSpecific(t *testing.T) {
	s := sample()
	s.Passing = append(s.Passing, s.Failing[0])
	if text, err := catalogue.Propose(s); !errors.Is(err, catalogue.ErrNothingSpecific) || text != "" {
		t.Errorf("%v\n%s", err, text)
	}
	_, err := catalogue.Propose(catalogue.Sample{Message: "connection refused"})
	if !errors.Is(err, catalogue.ErrNothingSpecific) {
		t.Error("a message that no text has")
	}
}

func TestOneFailureAloneGivesNothingWithADigit(t *testing.T) {
	const text = "node aks-17 lost its lease at 12:04 after the last renewal"
	got, err := catalogue.Propose(catalogue.Sample{Message: text, Failing: []string{text}})
	if err != nil {
		t.Fatal(err)
	}
	all := parse(t, got).All()[0].All
	if want := []string{"after the last renewal", "lost its lease at"}; !cmp.Equal(all, want) {
		t.Errorf("%q", all)
	}
}

// TestAnyProposalLoads, whatever the message is made of.
func TestAnyProposalLoads(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	parts := []string{"connection", " ", "'", `"`, ": ", "# ", "\t", "\x1b[31m", "\x1b", "\xff", "é", "- ", "{", "503", "true", "\n", "refused", "&", "*", "|", "%"}
	proposed := 0
	for range 1000 {
		var message strings.Builder
		for range 1 + chance.IntN(30) {
			message.WriteString(parts[chance.IntN(len(parts))])
		}
		text := "x " + message.String() + "\ny"
		proposal, err := catalogue.Propose(catalogue.Sample{Message: message.String(), Failing: []string{text, text}})
		if err != nil {
			continue
		}
		proposed++
		c := parse(t, proposal)
		if hits(c, find(t, c, "a.log", text)) == "" {
			t.Fatalf("%q is not found by\n%s", text, proposal)
		}
	}
	if proposed < 150 {
		t.Errorf("only %d proposals", proposed)
	}
}
