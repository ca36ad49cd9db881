package check

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"salve/internal/prow/config"
	"salve/internal/prow/finding"
	"salve/internal/prow/manifest"
)

// Protector is what the cluster of a Prow instance says of its branchprotectors.
type Protector struct {
	// Deployed are the images of CronJobs that run one, by "CronJob namespace/name"; they
	// count where DeployedFailed is empty.
	Deployed       map[string]string
	DeployedFailed string
	// Runs are those that are not over; they count where RunsFailed is empty.
	Runs       []ProtectorRun
	RunsFailed string
}

// ProtectorRun is a run of a branchprotector.
type ProtectorRun struct {
	// What names the object, such as "Job prow/branchprotector-1"; Image is what it runs.
	What, Image string
}

func (r ProtectorRun) String() string { return fmt.Sprintf("%s (%s)", r.What, r.Image) }

// programOfProtector is the name of the program, and the last part of its images' names.
const programOfProtector = "branchprotector"

// ownCluster lacks where nobody asked the cluster that Prow itself runs in.
func ownCluster(f *facts) finding.Lack {
	if f.Protector == nil {
		return notGiven("--live of Prow's own cluster")
	}
	return nothing()
}

// regress is B8: a branchprotector is about to run that is another one than the manifests
// say. On 5 February 2019 its CronJob had been edited by hand, and each deployment would
// have undone that. It is ALERT where a job deploys the manifests, and where the one that
// is about to run is older; WARN elsewhere.
func regress(f *facts) (finding.List, finding.Lack) {
	declared := f.Manifests.Named(programOfProtector)
	found, lack := f.periodicProtectors(declared), allManifests(f)
	if unseen := ownCluster(f); unseen != nothing() {
		return found, both(lack, unseen)
	}
	deployed, unsure := f.deployedProtectors(declared)
	running, unseen := f.runningProtectors(declared)
	return append(append(found, deployed...), running...), both(lack, both(unsure, unseen))
}

// deployedProtectors compares CronJobs of the cluster with those of the manifests.
func (f *facts) deployedProtectors(declared []manifest.Component) (found finding.List, lack finding.Lack) {
	if reason := f.Protector.DeployedFailed; reason != "" {
		return nil, failed("CronJobs of branchprotector: %s", reason)
	}
	matched := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(f.Protector.Deployed)) {
		component, ok := declaredAs(declared, name)
		if !ok {
			lack = both(lack, failed("%s runs %s, and no manifest declares it", name, f.Protector.Deployed[name]))
			continue
		}
		matched[component.Workload()] = true
		if image := f.Protector.Deployed[name]; image != component.Image.String() {
			found = append(found, f.handEdit(name, image, component))
			if lacking := knownDeployJobs(f); lacking != nothing() {
				lack = both(lack, lacking)
			}
		}
	}
	for _, c := range declared {
		if c.Kind == "CronJob" && !matched[c.Workload()] {
			found = append(found, finding.Finding{Severity: finding.Warn, Position: c.Position,
				Subject: finding.Subject{Namespace: c.Namespace, Component: c.Name, Detail: c.Workload()},
				Message: c.Workload() + " is declared and not deployed: the next deployment brings it",
				Mend:    "if it was removed on purpose, remove it from the manifests"})
		}
	}
	return found, lack
}

// declaredAs is the CronJob of the manifests that a CronJob of the cluster is: a manifest
// may leave the namespace to whoever applies it.
func declaredAs(declared []manifest.Component, name string) (manifest.Component, bool) {
	for _, c := range declared {
		if c.Kind == "CronJob" && (c.Workload() == name ||
			c.Namespace == "" && strings.HasSuffix(name, "/"+c.Object)) {
			return c, true
		}
	}
	return manifest.Component{}, false
}

func (f *facts) handEdit(name, image string, c manifest.Component) finding.Finding {
	made := finding.Finding{Severity: finding.Warn, Position: c.Image.Position,
		Subject:  finding.Subject{Namespace: c.Namespace, Component: c.Name, Detail: name},
		Message:  bounded(fmt.Sprintf("%s runs %s, and its manifest says %s", name, image, c.Image)),
		Evidence: []string{"no job is known to deploy " + f.Manifests.Folder},
		Mend:     "write into the manifest what is to run, and deploy it"}
	if c.Image.Position.File == "" {
		made.Position = c.Position
	}
	if len(f.jobs) > 0 {
		made.Severity = finding.Alert
		made.Message += ": the next deployment undoes the edit"
		made.Evidence = []string{fmt.Sprintf("job %s deploys %s: %s", f.jobs[0].Name, f.Manifests.Folder, f.jobs[0].Because)}
		made.Mend = "write into the manifest what is to run before anything deploys it, or stop the deploy job"
	}
	if older(image, c.Image.String()) {
		made.Severity = finding.Alert
		made.Evidence = append(made.Evidence, "the one that runs is older: it writes what it used to require")
	}
	return made
}

// runningProtectors compares runs that are not over with what files say is to run.
func (f *facts) runningProtectors(declared []manifest.Component) (finding.List, finding.Lack) {
	if reason := f.Protector.RunsFailed; reason != "" {
		return nil, failed("runs of branchprotector: %s", reason)
	}
	meant := f.meant(declared)
	if len(meant) == 0 && len(f.Protector.Runs) > 0 {
		return nil, failed("%s, and neither a manifest nor a periodic job declares a branchprotector", f.Protector.Runs[0])
	}
	by := map[string][]string{}
	for _, run := range f.Protector.Runs {
		if !slices.Contains(meant, run.Image) {
			by[run.Image] = append(by[run.Image], run.What)
		}
	}
	var found finding.List
	for _, image := range slices.Sorted(maps.Keys(by)) {
		made := otherImage(image, meant)
		made.Subject = finding.Subject{Component: programOfProtector, Detail: "in progress: " + image}
		made.Message = bounded(fmt.Sprintf("a branchprotector is at work that is not the one of the files: %s", image))
		made.Evidence = append(made.Evidence, few(by[image])...)
		made.Mend = "stop it, unless it was started on purpose; what it wrote shows as B3"
		if len(declared) > 0 {
			made.Position = declared[0].Position
		}
		found = append(found, made)
	}
	return found, nothing()
}

// periodicProtectors compares periodic jobs with the manifests.
func (f *facts) periodicProtectors(declared []manifest.Component) finding.List {
	meant := imagesOf(declared)
	if len(meant) == 0 {
		return nil
	}
	var found finding.List
	for _, job := range f.now.Periodics {
		image, ok := protectorOf(job)
		if !ok || slices.Contains(meant, image.Value) {
			continue
		}
		made := otherImage(image.Value, meant)
		made.Position, made.Subject = image.Position, finding.Subject{Job: job.Name, Component: programOfProtector}
		made.Message = bounded(fmt.Sprintf("job %s runs %s, which is not what the manifests say", job.Name, image.Value))
		made.Mend = "bring both to one version"
		found = append(found, made)
	}
	return found
}

// otherImage is WARN, and ALERT where the image is older than one that is meant.
func otherImage(image string, meant []string) finding.Finding {
	made := finding.Finding{Severity: finding.Warn,
		Evidence: []string{bounded("files say " + strings.Join(few(meant), ", "))}}
	if slices.ContainsFunc(meant, func(other string) bool { return older(image, other) }) {
		made.Severity = finding.Alert
		made.Evidence = append(made.Evidence, "it is older: it writes what it used to require")
	}
	return made
}

// meant are the images of branchprotector in the manifests and in periodic jobs.
func (f *facts) meant(declared []manifest.Component) []string {
	meant := imagesOf(declared)
	for _, job := range f.now.Periodics {
		if image, ok := protectorOf(job); ok && !slices.Contains(meant, image.Value) {
			meant = append(meant, image.Value)
		}
	}
	return meant
}

func imagesOf(components []manifest.Component) []string {
	var images []string
	for _, c := range components {
		if !slices.Contains(images, c.Image.String()) {
			images = append(images, c.Image.String())
		}
	}
	return images
}

// protectorOf is the image of a job's branchprotector.
func protectorOf(job *config.Job) (config.Located, bool) {
	if job.Pod == nil || len(job.Pod.Images) == 0 {
		return config.Located{}, false
	}
	for _, image := range job.Pod.Images {
		name, _, _ := strings.Cut(image.Value, "@")
		if strings.Contains(path.Base(name), programOfProtector) {
			return image, true
		}
	}
	for _, word := range job.Pod.Words {
		if path.Base(word) == programOfProtector {
			return job.Pod.Images[0], true
		}
	}
	return config.Located{}, false
}

// dated is a tag of Prow's images, such as v20190205-d83780367: the day of the build comes first.
var dated = regexp.MustCompile(`:v(20[0-9]{6})-[0-9a-f]+$`)

// older is whether one image is of a day before the other's. Of images without a day nothing
// is known.
func older(one, other string) bool {
	first, second := dated.FindStringSubmatch(one), dated.FindStringSubmatch(other)
	return first != nil && second != nil && first[1] < second[1]
}
