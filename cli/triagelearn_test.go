package cli

import (
	"testing"

	"salve/internal/triage"
	"salve/internal/triage/catalogue"
)

// TestTheLargestUnknownGroupIsLearned, and not a small one because it is new.
func TestTheLargestUnknownGroupIsLearned(t *testing.T) {
	document := &triage.Document{Groups: []triage.Group{
		{Key: "known", Failures: 300, Signatures: []triage.Signature{{ID: "a"}}, Verdict: triage.New},
		{Key: "small", Failures: 2, Verdict: triage.New},
		{Key: "large", Failures: 107, Verdict: triage.Undecided},
		{Key: "new", Failures: 107, Verdict: triage.New},
	}}
	for _, row := range []struct{ asked, want string }{{"", "new"}, {"small", "small"}, {"known", "known"}} {
		if got, err := unknownGroup(document, row.asked); err != nil || got.Key != row.want {
			t.Errorf("%q: %s, %v", row.asked, got.Key, err)
		}
	}
	if _, err := unknownGroup(&triage.Document{Groups: document.Groups[:1]}, ""); err == nil {
		t.Error("nothing to learn, and no error")
	}
}

func TestAProposalTakesItsClassFromTheVerdict(t *testing.T) {
	for verdict, want := range map[triage.Verdict]catalogue.Class{
		triage.KnownInfrastructure: catalogue.Infrastructure, triage.KnownProduct: catalogue.Product,
		triage.New: "", triage.Undecided: "", triage.SuspectedChange: "",
	} {
		if got := classOf(verdict); got != want {
			t.Errorf("%s: %q", verdict, got)
		}
	}
}
