package blocked

import (
	"fmt"
	"slices"

	"salve/internal/prow/finding"
	"salve/internal/prow/github"
)

// The rules about pull requests that wait.
const (
	// WedgeRule is B5: GitHub requires a context, the head of an open pull request does not have it for more than half an
	// hour, and nothing is under way that would report it.
	WedgeRule = "B5"
	// SplitRule is B6: Tide says that a pull request is in its pool, and GitHub that it is blocked.
	SplitRule = "B6"
)

// tideContext is that of Tide's own status (https://github.com/kubernetes-sigs/prow/blob/main/pkg/tide/status.go).
const tideContext = "tide"

// Wedges is rule B5 about the questions of an instance: one finding for each that Prow will never answer by itself.
// Drafts, untrusted and conflicted pull requests are none, nor is what waits for others than Prow. lack names the first
// question that could not be decided.
func Wedges(questions []Question) (found finding.List, lack finding.Lack) {
	for _, q := range questions {
		decision := Decide(q)
		made := finding.Finding{Rule: WedgeRule, Severity: finding.Alert, Subject: subjectOf(q.Pull, q.Context),
			Message:  fmt.Sprintf("#%d waits for %q, which nothing will report: %s", q.Pull.Number, q.Context, decision.Reason),
			Evidence: append([]string{"head " + q.Head}, decision.Evidence...)}
		switch decision.Do {
		case Trigger:
			made.Mend = "salve run unblock-pull-requests, or comment " + decision.Comment
		case Mend:
			made.Mend = "salve run repair-branch-protection"
			if q.Configured {
				made.Mend = "correct the configuration, then " + made.Mend
			}
		case Unknown:
			if lack.Reason == "" {
				lack.Reason = fmt.Sprintf("%s#%d, %q: %s", q.Branch.Repository(), q.Pull.Number, q.Context, decision.Reason)
			}
			continue
		default:
			continue
		}
		found = append(found, made)
	}
	return found, lack
}

// InPool tells whether Tide says of a head that it is in its pool.
func InPool(reports github.HeadReports) bool { return tideOn(reports) >= 0 }

func tideOn(reports github.HeadReports) int {
	return slices.IndexFunc(reports.Contexts, func(one github.Context) bool {
		return one.Name == tideContext && !one.CheckRun && one.State == github.Success
	})
}

// Split is rule B6 about one open pull request, read with its merge state, and the reports on its head.
func Split(pull github.PullRequest, reports github.HeadReports) (found finding.List, lack finding.Lack) {
	tide := tideOn(reports)
	switch {
	case reports.SHA != pull.HeadSHA:
		return nil, finding.Lack{Reason: fmt.Sprintf("%s#%d: the reports are not those on its head", pull.Repo, pull.Number)}
	case !pull.Open, tide < 0:
		return nil, finding.Lack{}
	case pull.MergeState == "", pull.MergeState == github.MergeUnknown:
		return nil, finding.Lack{Reason: fmt.Sprintf("%s#%d: GitHub has not yet computed whether it can be merged", pull.Repo,
			pull.Number)}
	case pull.MergeState != github.MergeBlocked:
		return nil, finding.Lack{}
	}
	return finding.List{{
		Rule: SplitRule, Severity: finding.Alert, Subject: subjectOf(pull, ""),
		Message:  fmt.Sprintf("Tide would merge #%d, and GitHub says that it is blocked", pull.Number),
		Evidence: []string{"head " + pull.HeadSHA, "Tide says: " + reports.Contexts[tide].Description},
		Mend:     "compare what GitHub requires with the configuration: salve check repair-branch-protection",
	}}, finding.Lack{}
}

func subjectOf(pull github.PullRequest, context string) finding.Subject {
	return finding.Subject{Org: pull.Repo.Owner, Repo: pull.Repo.Name, Branch: pull.Base, Context: context,
		Detail: fmt.Sprintf("#%d", pull.Number)}
}
