package github

import (
	"context"
	"fmt"
	"net/url"
	"time"

	gogithub "github.com/google/go-github/v92/github"

	"salve/internal/apierr"
)

// State is how a context stands.
type State string

const (
	// Pending means: not decided yet.
	Pending State = "pending"
	// Success means: green, as are the conclusions neutral and skipped of a check run.
	Success State = "success"
	// Failure means: red, by a status's failure or error or by any other conclusion of a check run.
	Failure State = "failure"
)

// Context is the newest report about one context of a commit.
type Context struct {
	Name  string
	State State
	// Word is GitHub's own: a status's state, a check run's status or conclusion.
	Word string
	// CheckRun tells a check run from a commit status. Of both by one name GitHub requires both.
	CheckRun bool
	// App is the ID of the app that reported a check run; zero for a status.
	App int64
	// Reporter is the login of who posted a status, or the slug of the app of a check run.
	Reporter, Description, URL string
	// Updated is when a status was posted, and when a check run began.
	Updated time.Time
}

// HeadReports are all the newest reports about a commit.
type HeadReports struct {
	SHA      string
	Contexts []Context
}

// Named gives the reports of one name: none, a status, a check run of each app, or several of these.
func (h HeadReports) Named(name string) []Context {
	var found []Context
	for _, one := range h.Contexts {
		if one.Name == name {
			found = append(found, one)
		}
	}
	return found
}

// Reports reads commit statuses and check runs of a commit, the newest of each context.
func (c *Client) Reports(ctx context.Context, repo Repo, sha string) (HeadReports, error) {
	if err := repo.check(); err != nil {
		return HeadReports{}, err
	}
	if !isSHA(sha) {
		return HeadReports{}, apierr.New(apierr.Terminal, "%q is not the whole SHA of a commit", short(sha))
	}
	statuses, err := c.statuses(ctx, repo, sha)
	if err != nil {
		return HeadReports{}, err
	}
	runs, err := c.checkRuns(ctx, repo, sha)
	if err != nil {
		return HeadReports{}, err
	}
	return HeadReports{SHA: sha, Contexts: append(statuses, runs...)}, nil
}

// statuses reads the combined status, which holds the newest of each context
// (https://docs.github.com/rest/commits/statuses#get-the-combined-status-for-a-specific-reference).
func (c *Client) statuses(ctx context.Context, repo Repo, sha string) ([]Context, error) {
	newest, total := newestOf{}, 0
	doing := fmt.Sprintf("reading the statuses of %s in %s", sha, repo)
	err := eachPage(ctx, c, doing, repo.path("commits", sha, "status"), nil,
		func(page combinedStatus) (int, error) {
			if page.SHA != sha || !repo.is(page.Repository.FullName) {
				return 0, otherObject("statuses of", sha+" in "+repo.String(), page.SHA+" in "+page.Repository.FullName)
			}
			total = page.Total
			for _, one := range page.Statuses {
				if err := newest.add(statusOf(one)); err != nil {
					return 0, err
				}
			}
			return len(page.Statuses), nil
		})
	return newest.all(doing, total, err)
}

// combinedStatus is what go-github's type leaves the repository out of.
type combinedStatus struct {
	SHA        string                 `json:"sha"`
	Total      int                    `json:"total_count"`
	Statuses   []*gogithub.RepoStatus `json:"statuses"`
	Repository struct {
		FullName string `json:"full_name"`
	} `json:"repository"`
}

// checkRuns reads the newest check runs of each name and app
// (https://docs.github.com/rest/checks/runs#list-check-runs-for-a-git-reference).
func (c *Client) checkRuns(ctx context.Context, repo Repo, sha string) ([]Context, error) {
	newest, total := newestOf{}, 0
	doing := fmt.Sprintf("reading the check runs of %s in %s", sha, repo)
	err := eachPage(ctx, c, doing, repo.path("commits", sha, "check-runs"), url.Values{"filter": {"latest"}},
		func(page *gogithub.ListCheckRunsResults) (int, error) {
			total = page.GetTotal()
			for _, one := range page.CheckRuns {
				if one.GetHeadSHA() != sha {
					return 0, otherObject("check runs of", sha, one.GetHeadSHA())
				}
				if err := newest.add(checkRunOf(one)); err != nil {
					return 0, err
				}
			}
			return len(page.CheckRuns), nil
		})
	return newest.all(doing, total, err)
}

// newestOf keeps the newest report of each context, in the order in which they came.
type newestOf struct {
	order []Context
	ids   []int64
	count int
}

type report struct {
	Context
	id int64
}

func (n *newestOf) add(one report) error {
	if one.Name == "" || one.State == "" {
		return apierr.New(apierr.Terminal, "unexpected answer: context %q has the state %q", short(one.Name),
			short(one.Word))
	}
	n.count++
	for i, known := range n.order {
		if known.Name != one.Name || known.App != one.App {
			continue
		}
		if one.Updated.After(known.Updated) || one.Updated.Equal(known.Updated) && one.id > n.ids[i] {
			n.order[i], n.ids[i] = one.Context, one.id
		}
		return nil
	}
	n.order, n.ids = append(n.order, one.Context), append(n.ids, one.id)
	return nil
}

// all gives what was read, if it is as much as GitHub says there is.
func (n *newestOf) all(doing string, total int, err error) ([]Context, error) {
	if err == nil && n.count < total {
		err = fmt.Errorf("%s: %w", doing, apierr.New(apierr.Transient, "incomplete list: %d of %d", n.count, total))
	}
	if err != nil {
		return nil, err
	}
	return n.order, nil
}

func statusOf(s *gogithub.RepoStatus) report {
	states := map[string]State{"pending": Pending, "success": Success, "failure": Failure, "error": Failure}
	return report{id: s.GetID(), Context: Context{
		Name: s.GetContext(), State: states[s.GetState()], Word: s.GetState(), Reporter: s.GetCreator().GetLogin(),
		Description: s.GetDescription(), URL: s.GetTargetURL(), Updated: s.GetUpdatedAt().Time,
	}}
}

// checkRunOf takes what is not completed for pending. Of conclusions, those three are green
// (https://docs.github.com/graphql/reference/enums#checkconclusionstate).
func checkRunOf(r *gogithub.CheckRun) report {
	read := Context{
		Name: r.GetName(), CheckRun: true, App: r.GetApp().GetID(), Reporter: r.GetApp().GetSlug(),
		Description: r.GetOutput().GetTitle(), URL: r.GetDetailsURL(), Word: r.GetStatus(), State: Pending,
		Updated: r.GetStartedAt().Time,
	}
	switch status, conclusion := r.GetStatus(), r.GetConclusion(); {
	case status == "":
		read.State = ""
	case status != "completed":
	case conclusion == "success", conclusion == "neutral", conclusion == "skipped":
		read.State, read.Word = Success, conclusion
	case conclusion == "":
		read.State = ""
	default:
		read.State, read.Word = Failure, conclusion
	}
	return report{id: r.GetID(), Context: read}
}
