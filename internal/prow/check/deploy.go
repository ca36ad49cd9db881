package check

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"salve/internal/prow/config"
	"salve/internal/prow/finding"
	"salve/internal/prow/manifest"
)

// deployJob is a job that applies the manifests of Prow itself.
type deployJob struct {
	*config.Job
	// Because says how it is known.
	Because string
}

// deploying is whether a job deploys, by its name. Those that only propose another version, such as
// autobump-prow-for-auto-deploy, don't, nor do those that test a deployment; "test" alone is in names of repositories.
func deploying(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("-_.", r) })
	has := func(of ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(of, word) })
	}
	return has("deploy", "deploys", "deployer", "redeploy", "apply", "rollout") &&
		!strings.Contains(strings.ToLower(name), "bump") && !has("tests", "e2e", "lint", "verify", "validate")
}

// deployJobs are those that the user names, or else the postsubmits and periodics whose name says that they deploy, and
// that are about Prow: because a change of its manifests starts them, or by their name too where no files decide. That
// of kubernetes/k8s.io which deploys a cluster for Prow's jobs is not one.
func (f *facts) deployJobs() []deployJob {
	if f.Manifests == nil {
		return nil
	}
	var jobs []deployJob
	for _, job := range f.now.Jobs() {
		aboutProw := strings.Contains(strings.ToLower(job.Name), "prow")
		switch {
		case f.Options.DeployJobs != nil:
			if slices.Contains(f.Options.DeployJobs, job.Name) {
				jobs = append(jobs, deployJob{job, "named by --deploy-job"})
			}
		case job.Kind == config.Presubmit || !deploying(job.Name):
		case job.RunIfChanged != "":
			if file := startedBy(job, f.Manifests, aboutProw); file != "" {
				jobs = append(jobs, deployJob{job, "its run_if_changed matches " + file + "; --deploy-job names others"})
			}
		case aboutProw:
			jobs = append(jobs, deployJob{job, "its name says so; --deploy-job names others"})
		}
	}
	return jobs
}

// startedBy is a manifest that starts the job when it changes. Prow matches paths in the repository; how many of the
// folders before a manifest's are outside of it is not known, so each may be. A job whose name doesn't say that it is
// about Prow may be of another repository, which has a config/ too: then what starts it has to be nearer than that.
func startedBy(job *config.Job, set *manifest.Set, aboutProw bool) string {
	expression, err := regexp.Compile(job.RunIfChanged)
	if err != nil {
		return ""
	}
	for _, c := range set.Components {
		for file, more := c.Position.File, true; more; _, file, more = strings.Cut(file, "/") {
			if expression.MatchString(file) && (aboutProw || !expression.MatchString(elsewhere(file))) {
				return c.Position.File
			}
		}
	}
	return ""
}

// elsewhere is a file of that name in another folder of the same top folder, if it lies deeper than that; else in
// another top folder.
func elsewhere(file string) string {
	if top, rest, _ := strings.Cut(file, "/"); strings.Contains(rest, "/") {
		return top + "/elsewhere/" + path.Base(file)
	}
	return "elsewhere/" + path.Base(file)
}

// knownDeployJobs lacks where it isn't known which jobs deploy.
func knownDeployJobs(f *facts) finding.Lack {
	if lack := manifests(f); lack != nothing() {
		return lack
	}
	if f.Options.DeployJobs == nil && len(f.jobs) == 0 {
		return failed("no job found that deploys %s: name it with --deploy-job, or say --deploy-job none", f.Manifests.Folder)
	}
	for _, name := range f.Options.DeployJobs {
		if !slices.ContainsFunc(f.jobs, func(j deployJob) bool { return j.Name == name }) {
			return failed("--deploy-job: no job %q in the configuration", name)
		}
	}
	return nothing()
}

// cycles is C1: a job that deploys what it needs itself. Such a Prow can't deploy the
// way back from a release that broke it. It is always said: WARN where another way is
// proven to work, ALERT where it isn't.
func cycles(f *facts) (finding.List, finding.Lack) {
	var found finding.List
	for _, job := range f.jobs {
		cycle := f.cycleOf(job)
		if len(cycle) == 0 {
			continue
		}
		made := finding.Finding{Severity: finding.Alert, Position: job.Position,
			Subject:  finding.Subject{Org: job.Org, Repo: job.Repo, Job: job.Name},
			Message:  "the job deploys what it needs itself: a release that breaks it can't be taken back by it",
			Evidence: []string{"it deploys " + f.Manifests.Folder + ": " + job.Because},
			Mend:     "prepare and rehearse a way to deploy without Prow, and state it in a file for --break-glass"}
		for _, need := range cycle {
			made.Evidence = append(made.Evidence, need.String())
		}
		if f.BreakGlass != nil {
			if path := f.BreakGlass.proven(f, f.cyclic()); path != "" {
				made.Severity = finding.Warn
				made.Evidence = append(made.Evidence, "the way around it: "+path)
				made.Mend = "keep exercising the way around it"
			}
		}
		found = append(found, made)
	}
	return found, allManifests(f)
}

// dependency is one thing that a job needs.
type dependency struct {
	// Kind is component, Secret, ConfigMap or ServiceAccount; Name of the latter is with
	// the namespace.
	Kind, Name string
	// Why says what needs it.
	Why string
	// Deployed is where the manifests make it; empty where they don't.
	Deployed string
}

func (d dependency) String() string {
	return fmt.Sprintf("needs %s %s (%s), which it deploys (%s)", d.Kind, d.Name, d.Why, d.Deployed)
}

// cycleOf are the things that a job needs and deploys.
func (f *facts) cycleOf(job deployJob) []dependency {
	var cycle []dependency
	for _, need := range f.needsOf(job) {
		if need.Deployed = f.deployed(need); need.Deployed != "" {
			cycle = append(cycle, need)
		}
	}
	return cycle
}

// needsOf are what a job needs to run, in the order in which it needs it.
func (f *facts) needsOf(job deployJob) []dependency {
	var needs []dependency
	component := func(name, why string) {
		needs = append(needs, dependency{Kind: "component", Name: name, Why: why})
	}
	if job.Kind == config.Periodic {
		component("horologium", "starts periodic jobs")
	} else {
		component("hook", "starts "+string(job.Kind)+"s")
	}
	if job.Agent == "kubernetes" {
		component("prow-controller-manager", "makes its pod")
		component("plank", "makes its pod") // of releases before 2021
		for _, reference := range job.References() {
			if !reference.Optional {
				needs = append(needs, dependency{Kind: string(reference.Kind),
					Name: f.now.PodNamespace.Value + "/" + reference.Name, Why: reference.From + " of its pod"})
			}
		}
	}
	if job.Kind == config.Postsubmit {
		branch := config.Branch{Org: job.Org, Repo: job.Repo, Name: f.now.mainBranch(job.Job)}
		why := "a merge into " + job.Repository() + " starts the job"
		if len(f.now.Tide.QueriesFor(branch)) > 0 {
			component("tide", why)
		}
		if contexts, _ := f.now.required(branch); len(contexts) > 0 {
			component("crier", why+", which requires "+strings.Join(few(contexts.Values()), ", "))
		}
	}
	return needs
}

// mainBranch is the branch that a job is started from.
func (v *view) mainBranch(job *config.Job) string {
	for _, name := range append([]string{"main", "master"}, v.Branches(job.Org, job.Repo)...) {
		if job.RunsOn(name) {
			return name
		}
	}
	return "main"
}

// deployed is where the manifests make a thing; empty where they don't.
func (f *facts) deployed(need dependency) string {
	switch need.Kind {
	case "component":
		for _, c := range f.Manifests.Named(need.Name) {
			return c.Position.String()
		}
	case string(config.ConfigMap):
		if made, ok := f.Manifests.ConfigMaps[need.Name]; ok {
			return made.Position.String()
		}
	case string(config.Secret):
		if at, ok := f.Manifests.Secrets[need.Name]; ok {
			return at.String()
		}
	}
	return ""
}

// cyclic are the components that the deploy jobs need and deploy, each once.
func (f *facts) cyclic() []string {
	var names []string
	for _, job := range f.jobs {
		for _, need := range f.cycleOf(job) {
			if need.Kind == "component" && !slices.Contains(names, need.Name) {
				names = append(names, need.Name)
			}
		}
	}
	return names
}
