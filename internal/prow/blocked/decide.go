package blocked

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"salve/internal/prow/config"
	"salve/internal/prow/github"
)

const (
	// settles is how long a push has until its jobs have to be there.
	settles = 30 * time.Minute
	// reporting is how long crier has to report a job that is done.
	reporting = 10 * time.Minute
)

// Labels of the trigger plugin (https://github.com/kubernetes-sigs/prow/blob/main/pkg/labels/labels.go).
const (
	okToTest      = "ok-to-test"
	needsOkToTest = "needs-ok-to-test"
)

// rule decides a question, or leaves it to the next one.
type rule func(Question) (_ Decision, decides bool)

// rules are asked in this order. The first ones tell whether the context is missing at all.
func rules() []rule {
	return []rule{
		pullUnseen, reported,
		headMoved, draft, conflicted, closed, untrusted, mergeUnknown,
		reportsUnseen, unfinished, jobsUnseen, unreportedResult,
		justPushed, noProducer, silent, startsOthers, always, manual, conditional,
	}
}

// Decide says what to do about a question.
func Decide(q Question) Decision {
	for _, rule := range rules() {
		if decision, decides := rule(q); decides {
			return decision
		}
	}
	return decided(Unknown, "no rule decides it")
}

func pullUnseen(q Question) (Decision, bool) {
	return decided(Unknown, "pull request not seen: %v", q.Unseen.Pull), q.Unseen.Pull != nil
}

// reported: whatever was said of the context, it is not missing, unless a later result was not said.
func reported(q Question) (Decision, bool) {
	there := q.Reports.Named(q.Context)
	if len(there) == 0 || q.Unseen.Reports != nil {
		return Decision{}, false
	}
	if jobs := q.jobs(); len(jobs) > 0 && unreported(jobs[0]) {
		return Decision{}, false
	}
	return decided(Nothing, "reported: %s", there[0].Word).with(evidenceOf(there)...), true
}

func evidenceOf(reports []github.Context) []string {
	var lines []string
	for _, one := range reports {
		kind := "status"
		if one.CheckRun {
			kind = "check run"
		}
		lines = append(lines, kind+" "+one.Name+" is "+one.Word+" since "+stamp(one.Updated))
	}
	return lines
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

func headMoved(q Question) (Decision, bool) {
	if q.Pull.Base != q.Branch.Name {
		return decided(Leave, "it is for branch %s now", q.Pull.Base), true
	}
	return decided(Leave, "head moved from %s to %s", short(q.Head), short(q.Pull.HeadSHA)), q.Pull.HeadSHA != q.Head
}

func draft(q Question) (Decision, bool) {
	return decided(Leave, "it is a draft"), q.Pull.Draft || q.Pull.MergeState == github.MergeDraft
}

func conflicted(q Question) (Decision, bool) {
	return decided(Leave, "it conflicts with its base"), q.Pull.MergeState == github.MergeDirty
}

func closed(q Question) (Decision, bool) {
	return decided(Leave, "it is closed"), !q.Pull.Open
}

// untrusted: a comment of somebody whom Prow trusts would start the jobs of a change that nobody has looked at. Who is
// a collaborator alone is trusted by some instances and not by others.
func untrusted(q Question) (Decision, bool) {
	has := func(label string) bool { return slices.Contains(q.Pull.Labels, label) }
	member := q.Pull.Association == "MEMBER" || q.Pull.Association == "OWNER"
	switch {
	case has(needsOkToTest):
		return decided(Leave, "untrusted: it has the label %s", needsOkToTest), true
	case has(okToTest), member:
		return Decision{}, false
	case q.Pull.Association == "":
		return decided(Unknown, "GitHub does not say what its author is to the repository"), true
	}
	return decided(Leave, "untrusted: its author is %s of the repository, and it has no label %s",
		strings.ToLower(q.Pull.Association), okToTest), true
}

// mergeUnknown: GitHub has not said that there is no conflict.
func mergeUnknown(q Question) (Decision, bool) {
	unread := q.Pull.MergeState == "" || q.Pull.MergeState == github.MergeUnknown
	return decided(Unknown, "GitHub has not yet computed whether it can be merged"), unread
}

func reportsUnseen(q Question) (Decision, bool) {
	return decided(Unknown, "statuses and check runs not seen: %v", q.Unseen.Reports), q.Unseen.Reports != nil
}

func unfinished(q Question) (Decision, bool) {
	job, found := q.Unfinished()
	decision := decided(Wait, "ProwJob %s is %s", job.Name, job.State).with("made at " + stamp(job.Created))
	decision.ProwJob = job
	return decision, found
}

// jobsUnseen comes before whatever rests on the absence of a job.
func jobsUnseen(q Question) (Decision, bool) {
	err := errors.New("ProwJobs were not read")
	if q.Jobs != nil {
		err = q.Jobs.unread
	}
	return decided(Unknown, "%v", err), err != nil
}

func unreportedResult(q Question) (Decision, bool) {
	jobs := q.jobs()
	if len(jobs) == 0 || !unreported(jobs[0]) {
		return Decision{}, false
	}
	job := jobs[0]
	said := string(job.Reported)
	if said == "" {
		said = "nothing"
	}
	decision := decided(Report, "ProwJob %s has ended with %s, and GitHub was told %s", job.Name, job.State, said)
	switch {
	case job.AskedAgain != "":
		decision = decided(Leave, "ProwJob %s was to be reported again by run %s, and was not: that is asked for once",
			job.Name, job.AskedAgain)
	case q.Now.Sub(job.Completed) < reporting:
		decision = decided(Wait, "ProwJob %s has just ended, and crier has until %s to report it", job.Name,
			stamp(job.Completed.Add(reporting)))
	}
	decision.ProwJob = job
	return decision.with("completed at " + stamp(job.Completed)), true
}

func justPushed(q Question) (Decision, bool) {
	there := q.There()
	if there.IsZero() {
		return decided(Unknown, "nothing says when the head was pushed"), true
	}
	return decided(Wait, "head %s may have been pushed as late as %s: its jobs may be on their way", short(q.Head),
		stamp(there)), q.Now.Sub(there) <= settles
}

// noProducer: of who else may report it nothing is known here.
func noProducer(q Question) (Decision, bool) {
	switch {
	case q.producer() != nil:
		return Decision{}, false
	case q.Unseen.Reporter != nil:
		return decided(Unknown, "who reports it was not seen: %v", q.Unseen.Reporter), true
	case q.ReportedBy != "":
		return decided(Leave, "no job of Prow reports it, others do: %s", q.ReportedBy), true
	case q.InRepo:
		return decided(Unknown, "no job of the configuration has this context, and a .prow.yaml of the repository may "+
			"have one"), true
	}
	return q.wrong("no job of Prow reports it on this branch"), true
}

// wrong is the decision that the protection is, with who has to be corrected.
func (q Question) wrong(format string, args ...any) Decision {
	if q.Configured {
		return decided(Mend, format, args...).with("the configuration requires it too, and has to be corrected first")
	}
	return decided(Mend, format, args...).with("the configuration does not require it")
}

func silent(q Question) (Decision, bool) {
	job := q.producer()
	return q.wrong("job %s does not report (skip_report)", job.Name), job.SkipReport
}

// argument is what "/test" is followed by.
var argument = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)

// plainTest tells whether a comment may hold a command. Whoever may edit a job's rerun_command must not speak with the
// rights of the account that comments: /lgtm, /approve and /override are commands too. "/test all" and "/retest" start
// what no job's own trigger names (https://github.com/kubernetes-sigs/prow/blob/main/pkg/pjutil/filter.go).
func plainTest(command string) bool {
	name, is := strings.CutPrefix(command, "/test ")
	return is && name != "all" && argument.MatchString(name)
}

// startsOthers: a comment that starts jobs which nobody asked for is none to be made.
func startsOthers(q Question) (Decision, bool) {
	job := q.producer()
	if !plainTest(job.RerunCommand) {
		return decided(Leave, "job %s is started by %q: nothing but /test and a name is ever written", job.Name,
			job.RerunCommand), true
	}
	starts, err := Starts(q.Presubmits, q.Branch.Name, job.RerunCommand)
	switch {
	case err != nil:
		return decided(Unknown, "%v", err), true
	case !slices.Contains(starts, job.Name):
		return decided(Unknown, "job %s is not started by its own command %q", job.Name, job.RerunCommand), true
	case len(starts) > 1:
		return decided(Leave, "%q would start others too: %s", job.RerunCommand, strings.Join(starts, ", ")), true
	}
	return Decision{}, false
}

// Starts names the presubmits that a comment starts on a pull request for a branch.
func Starts(presubmits []*config.Job, branch, comment string) ([]string, error) {
	var names []string
	for _, job := range presubmits {
		started, err := job.TriggeredBy(comment)
		if err != nil {
			return nil, fmt.Errorf("trigger of job %s: %w", job.Name, err)
		}
		if started && job.RunsOn(branch) {
			names = append(names, job.Name)
		}
	}
	return names, nil
}

func always(q Question) (Decision, bool) {
	job := q.producer()
	return q.start("job %s always runs, and none has run on %s", job.Name, short(q.Head)), job.AlwaysRun
}

// manual: who requires it means that somebody asks for it.
func manual(q Question) (Decision, bool) {
	job := q.producer()
	return decided(Leave, "job %s runs only when somebody asks for it, by %q", job.Name, job.RerunCommand), job.Manual()
}

func conditional(q Question) (Decision, bool) {
	job := q.producer()
	switch {
	case q.Unseen.Files != nil:
		return decided(Unknown, "changed files not seen: %v", q.Unseen.Files), true
	case q.Files == nil:
		return decided(Unknown, "changed files were not read"), true
	case q.Files.Truncated:
		return decided(Unknown, "GitHub lists only the first %d changed files", len(q.Files.Files)), true
	case len(q.Files.Files) == 0:
		return decided(Unknown, "GitHub lists no changed file"), true
	}
	var names []string
	for _, file := range q.Files.Files {
		names = append(names, file.Name)
	}
	runs, err := job.RunsAgainst(names)
	switch {
	case err != nil:
		return decided(Unknown, "expression of job %s: %v", job.Name, err), true
	case !runs:
		return q.wrong("job %s runs only if certain files change, and none of %d does", job.Name, len(names)).
			with(conditionOf(job)), true
	}
	return q.start("job %s runs for these files, and none has run on %s", job.Name, short(q.Head)).
		with(conditionOf(job)), true
}

func conditionOf(job *config.Job) string {
	if job.RunIfChanged != "" {
		return "run_if_changed: " + job.RunIfChanged
	}
	return "skip_if_only_changed: " + job.SkipIfOnlyChanged
}

// start is the decision to start the job. What was there before says that no run of it is to be waited for.
func (q Question) start(format string, args ...any) Decision {
	decision := decided(Trigger, format, args...).with("on this head since " + stamp(q.There()) + " at least")
	decision.Job = q.producer()
	decision.Comment = decision.Job.RerunCommand
	for _, job := range q.jobs() {
		decision.Evidence = append(decision.Evidence, "ProwJob "+job.Name+" ended with "+string(job.State)+
			" and counts as reported")
	}
	return decision
}
