package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"salve/internal/diagnostic"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
)

// Live is what one build cluster says.
type Live struct {
	// Cluster is its alias in the configuration.
	Cluster string
	// User is the identity with which plank makes pods there; empty where it isn't known.
	User string
	// Everywhere is whether it may make pods in all namespaces.
	Everywhere Review
	// Reviews are one a namespace, the pod namespace included. They are empty where
	// Everywhere is allowed.
	Reviews map[string]Review
	// Objects are what jobs name.
	Objects map[Object]Presence
	// Failed is why the cluster could not be asked at all.
	Failed string
}

// Review is the answer to an access review.
type Review struct {
	Allowed bool
	// Failed is why there is no answer.
	Failed string
}

// Object is one that pods of jobs name, in the pod namespace.
type Object struct {
	Kind config.ObjectKind
	Name string
}

func (o Object) String() string { return string(o.Kind) + " " + o.Name }

// Presence is whether an object is there.
type Presence struct {
	There bool
	// Failed is why that isn't known.
	Failed string
}

// reach is an object with the jobs that can't start without it.
type reach struct {
	jobs []string
	from string
	at   diagnostic.Position
}

// Wanted are the objects that jobs of a cluster need, sorted.
func Wanted(c *config.Config, cluster string) []Object {
	wanted, _ := reaches(c, cluster)
	return slices.SortedFunc(maps.Keys(wanted), func(a, b Object) int { return strings.Compare(a.String(), b.String()) })
}

func reaches(c *config.Config, cluster string) (objects map[Object]*reach, jobs int) {
	objects = map[Object]*reach{}
	for _, job := range c.Jobs() {
		if job.Cluster != cluster || job.Agent != "kubernetes" {
			continue
		}
		jobs++
		for _, reference := range job.References() {
			object := Object{reference.Kind, reference.Name}
			if reference.Optional || reference.Name == "" {
				continue
			}
			known := objects[object]
			if known == nil {
				known = &reach{from: reference.From, at: reference.Position}
				objects[object] = known
			}
			if !slices.Contains(known.jobs, job.Name) {
				known.jobs = append(known.jobs, job.Name)
			}
		}
	}
	return objects, jobs
}

func liveCluster(f *facts) finding.Lack {
	switch {
	case f.Live == nil:
		return notGiven("--live of a cluster")
	case f.Live.Failed != "":
		return failed("cluster %s could not be asked: %s", f.Live.Cluster, f.Live.Failed)
	}
	return nothing()
}

// noRail is P2: plank may make pods outside of the pod namespace, so that nothing stops
// it when it mixes namespaces up. With a Role in the pod namespace alone the first pod of
// 5 February 2019 would have been refused. That it may not even there is ALERT: Prow
// leaves such a cluster out.
func noRail(f *facts) (finding.List, finding.Lack) {
	live, home := f.Live, f.now.PodNamespace
	if live.User == "" {
		return nil, notGiven("--plank-user")
	}
	made := finding.Finding{Severity: finding.Warn, Position: home.Position,
		Subject:  finding.Subject{Cluster: live.Cluster, Component: "prow-controller-manager"},
		Evidence: []string{"access review: user " + live.User + ", verb create, resource pods"},
		Mend:     "give it a Role in namespace " + home.Value + ", and no ClusterRole, to create pods"}
	if live.Everywhere.Allowed {
		made.Message = "plank may make pods in every namespace: nothing stops it when it mixes namespaces up"
		return finding.List{made}, nothing()
	}
	lack := nothing()
	if live.Everywhere.Failed != "" {
		lack = failed("access review of all namespaces: %s", live.Everywhere.Failed)
	}
	var outside []string
	for _, namespace := range slices.Sorted(maps.Keys(live.Reviews)) {
		switch review := live.Reviews[namespace]; {
		case review.Failed != "":
			lack = failed("access review of namespace %s: %s", namespace, review.Failed)
		case review.Allowed && namespace != home.Value:
			outside = append(outside, namespace)
		case !review.Allowed && namespace == home.Value:
			made.Severity = finding.Alert
		}
	}
	if _, asked := live.Reviews[home.Value]; !asked {
		lack = failed("no access review of namespace %s", home.Value)
	}
	switch {
	case made.Severity == finding.Alert:
		made.Message = "plank may not make pods in namespace " + home.Value + ": Prow leaves the cluster out"
	case len(outside) > 0:
		made.Message = fmt.Sprintf("plank may make pods outside of %s, in %s", home.Value, strings.Join(few(outside), ", "))
	default:
		return nil, lack
	}
	return finding.List{made}, lack
}

// outOfReach is P3: an object that jobs name is not in the pod namespace. Their pods wait
// until they are given up. WARN, and ALERT where half of the cluster's jobs need it: that
// is what 5 February 2019 looked like.
func outOfReach(f *facts) (finding.List, finding.Lack) {
	wanted, jobs := reaches(f.now.Config, f.Live.Cluster)
	var found finding.List
	lack := nothing()
	for _, object := range Wanted(f.now.Config, f.Live.Cluster) {
		presence, asked := f.Live.Objects[object]
		switch {
		case !asked:
			lack = failed("%s was not asked for", object)
		case presence.Failed != "":
			lack = failed("%s: %s", object, presence.Failed)
		}
		if !asked || presence.There || presence.Failed != "" {
			continue
		}
		needs := wanted[object]
		made := finding.Finding{Severity: finding.Warn, Position: needs.at,
			Subject: finding.Subject{Cluster: f.Live.Cluster, Namespace: f.now.PodNamespace.Value, Detail: object.String()},
			Message: fmt.Sprintf("%s is not in namespace %s: pods of %s can't start", object, f.now.PodNamespace.Value,
				count(len(needs.jobs), "job", "jobs")),
			Evidence: []string{"named by " + needs.from, "jobs: " + strings.Join(few(needs.jobs), ", ")},
			Mend:     "create it there, or correct the name"}
		if 2*len(needs.jobs) >= jobs && jobs > 2 {
			made.Severity = finding.Alert
		}
		found = append(found, made)
	}
	return found, lack
}
