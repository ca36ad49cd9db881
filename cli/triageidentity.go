package cli

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"salve/internal/triage/analysis"
)

// triageIdentity says which run of CI is triaged. What no flag says, the variables of CI systems do.
type triageIdentity struct {
	build, run, change, began string
}

func (t *triageIdentity) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&t.build, "build", "",
		"`ID` of the build, which --history counts once (GITHUB_RUN_ID, BUILD_BUILDID, BUILD_ID; default: by the results)")
	flags.StringVar(&t.run, "job", "", "`ID` of one of several jobs of the build (GITHUB_JOB, SYSTEM_JOBID, JOB_NAME)")
	flags.StringVar(&t.change, "change", "",
		"`ID` of the change under test, which is no baseline of itself (the number of the pull request)")
	flags.StringVar(&t.began, "began", "",
		"`TIME` when the run began, as 2006-01-02T15:04:05Z (default: when its first scenario ended)")
}

// read takes what no flag gave from the environment.
func (t *triageIdentity) read(lookup func(string) string) (analysis.Identity, error) {
	first := func(flag string, names ...string) string {
		for _, name := range names {
			if flag == "" {
				flag = lookup(name)
			}
		}
		return flag
	}
	identity := analysis.Identity{
		Build:  first(t.build, "GITHUB_RUN_ID", "BUILD_BUILDID", "BUILD_ID"),
		Run:    first(t.run, "GITHUB_JOB", "SYSTEM_JOBID", "JOB_NAME"),
		Change: t.change,
	}
	if identity.Change == "" {
		identity.Change = pullRequest(lookup)
	}
	if t.began == "" {
		return identity, nil
	}
	var err error
	if identity.Time, err = time.Parse(time.RFC3339, t.began); err != nil {
		return identity, usage("--began %q: it must be a time with a zone, such as 2026-02-05T13:04:05Z", t.began)
	}
	return identity, nil
}

// pullRequest is the one that a CI system runs for, with its repository where that is known.
func pullRequest(lookup func(string) string) string {
	repository, number := lookup("GITHUB_REPOSITORY"), ""
	if rest, is := strings.CutPrefix(lookup("GITHUB_REF"), "refs/pull/"); is {
		number, _, _ = strings.Cut(rest, "/")
	}
	if n := lookup("PULL_NUMBER"); number == "" && n != "" {
		repository, number = lookup("REPO_OWNER")+"/"+lookup("REPO_NAME"), n
	}
	for _, name := range []string{"SYSTEM_PULLREQUEST_PULLREQUESTNUMBER", "SYSTEM_PULLREQUEST_PULLREQUESTID"} {
		if number == "" {
			repository, number = lookup("BUILD_REPOSITORY_NAME"), lookup(name)
		}
	}
	if number == "" {
		return ""
	}
	return strings.TrimPrefix(repository+"#"+number, "/")
}
