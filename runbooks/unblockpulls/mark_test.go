package unblockpulls_test

import (
	"net/http"
	"strings"
	"testing"

	"salve/internal/prow/githubsim"
	"salve/runbook"
)

// marked adds a comment to pull request 7 with the mark of its context unit.
func (w *world) marked(author, association string) {
	w.pull(7, func(pull *githubsim.Pull) {
		pull.Comments = append(pull.Comments, githubsim.Comment{ID: 1, Author: author, Association: association,
			Body: "I like this\n<!-- salve unblock-pull-requests head=" + headOf(7) + " context=unit -->"})
	})
}

// TestWhoseMarkCounts: a comment that anybody may write keeps nothing from being asked for.
func TestWhoseMarkCounts(t *testing.T) {
	for who, row := range map[string]struct {
		author, association string
		counts              bool
	}{
		"a stranger":                               {"eve", "NONE", false},
		"somebody with a change that was merged":   {"eve", "CONTRIBUTOR", false},
		"somebody with a first change":             {"eve", "FIRST_TIME_CONTRIBUTOR", false},
		"somebody of whom GitHub says what is new": {"eve", "MEMBERS", false},
		"a name that is like ours":                 {"samuel", "NONE", false},
		"our own account":                          {"sam", "NONE", true},
		"our own account, as others write it":      {"Sam", "NONE", true},
		"a colleague's account":                    {"jo", "MEMBER", true},
		"a collaborator, who may only read":        {"eve", "COLLABORATOR", false},
		"the owner's":                              {"jo", "OWNER", true},
	} {
		t.Run(who, func(t *testing.T) {
			in(t, func(w *world) {
				w.marked(row.author, row.association)
				if row.counts {
					w.finds(no, "", "it was asked for by "+row.author)
					return
				}
				w.ends(w.run(), runbook.Remediated)
				w.commented(1)
			})
		})
	}
}

// TestAStrangersMarkDuringTheRunStopsNothing, and is not taken for the run's own comment.
func TestAStrangersMarkDuringTheRunStopsNothing(t *testing.T) {
	for moment, n := range map[string]int{"before its step": 1, "right before the comment": 2} {
		t.Run(moment, func(t *testing.T) {
			in(t, func(w *world) {
				w.ends(w.disturbed(before(n, http.MethodGet, "/issues/7", func() { w.marked("eve", "NONE") })),
					runbook.Remediated)
				w.commented(1)
			})
		})
	}
}

// TestAMarkThatComesRightBeforeTheCommentIsSeen: a colleague's run was faster, and its job is not to be seen yet.
func TestAMarkThatComesRightBeforeTheCommentIsSeen(t *testing.T) {
	in(t, func(w *world) {
		w.later(func() { w.status(headOf(7), "unit", "pending"); w.job(of(7, "unit"), nil) })
		result := w.disturbed(before(2, http.MethodGet, "/issues/7", func() { w.marked("jo", "MEMBER") }))
		w.ends(result, runbook.Remediated)
		w.commented(0)
	})
}

// TestARunThatGoesOnWithAnotherTokenKnowsItsComment, though nobody trusts the account that made it any more: the record
// says who that was.
func TestARunThatGoesOnWithAnotherTokenKnowsItsComment(t *testing.T) {
	in(t, func(w *world) {
		w.noHook = true
		found := w.discovered()
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.NeedsAttention, "Is hook running")
		w.commented(1)
		w.sim.Update(func(github *githubsim.World) {
			github.Token(token, "jo")
			github.Repo("kube/widgets").Collaborators = map[string]string{"jo": "admin"}
		})
		w.pull(7, func(pull *githubsim.Pull) { pull.Comments[0].Association = "NONE" })
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.NeedsAttention, "Is hook running")
		w.commented(1)
	})
}

// TestWhoWeAreIsAsked: as long as GitHub doesn't say it, no mark is known to be ours or not.
func TestWhoWeAreIsAsked(t *testing.T) {
	in(t, func(w *world) {
		w.sim.Inject(githubsim.Fault{Path: "/user", Status: http.StatusForbidden,
			Message: "Resource not accessible by integration", Times: -1})
		w.finds(unknown, "", "who the token speaks for")
		w.commented(0)
	})
	in(t, func(w *world) {
		w.pull(8, nil)
		w.discovered()
		asked := 0
		for _, call := range w.sim.Calls() {
			if strings.HasSuffix(call.Path, "/user") {
				asked++
			}
		}
		if asked != 1 {
			w.Errorf("it was asked %d times", asked)
		}
	})
}
