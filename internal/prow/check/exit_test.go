package check_test

import (
	"slices"
	"strings"
	"testing"

	"salve/internal/prow/check"
	"salve/internal/prow/manifest"
)

// TestWayOut of a Prow that deploys itself: what its job needs, who may merge, and which ways are stated.
func TestWayOut(t *testing.T) {
	given := facts(t, selfDeployed(), nil)
	given.BreakGlass = breakGlass(t, way+"  commands: [make deploy]\n")
	exit, err := check.FindExit(given)
	if err != nil || exit.Unknown != "" || len(exit.Jobs) != 1 || len(exit.Doors) != 1 || len(exit.Ways) != 1 {
		t.Fatalf("%+v, %v", exit, err)
	}
	var needs []string
	for _, need := range exit.Jobs[0].Needs {
		needs = append(needs, need.Name)
	}
	if want := []string{"hook", "prow-controller-manager", "tide", "crier"}; !slices.Equal(needs, want) {
		t.Errorf("needs %q", needs)
	}
	if way := exit.Ways[0]; len(way.Lacks) != 0 || !slices.Equal(way.Commands, []string{"make deploy"}) {
		t.Errorf("%+v", way)
	}
	if door := exit.Doors[0]; door.Branch.String() != "org/infra=main" || !slices.Equal(door.Contexts, []string{"unit"}) ||
		door.EnforceAdmins || door.Restricted {
		t.Errorf("%+v", door)
	}
}

// TestDoors are as the policy has them.
func TestDoors(t *testing.T) {
	for rule, row := range map[string]struct {
		policy string
		holds  func(check.Door) bool
	}{
		"admins too": {"protect: true\n          enforce_admins: true", func(d check.Door) bool { return d.EnforceAdmins }},
		"who may push": {"protect: true\n          restrictions: {users: [bot], teams: [oncall]}", func(d check.Door) bool {
			return d.Restricted && slices.Equal(d.Users, []string{"bot"}) && slices.Equal(d.Teams, []string{"oncall"})
		}},
		"approvals": {"protect: true\n          required_pull_request_reviews: {required_approving_review_count: 2}",
			func(d check.Door) bool { return d.Approvals == 2 }},
		"unmanaged": {"unmanaged: true",
			func(d check.Door) bool { return strings.Contains(d.Unknown, "leaves the branch alone") }},
		"a policy that can't be computed": {"protect: false", func(d check.Door) bool {
			return d.Unknown != "" && !strings.Contains(d.Unknown, "leaves")
		}},
	} {
		files := selfDeployed()
		files["config.yaml"] = replace(t, files["config.yaml"], "protect: true", row.policy)
		exit, err := check.FindExit(facts(t, files, nil))
		if err != nil || len(exit.Doors) != 1 || !row.holds(exit.Doors[0]) {
			t.Errorf("%s: %+v, %v", rule, exit.Doors, err)
		}
	}
}

// TestWayOutOfWhatIsNotKnown is none, or says what is not.
func TestWayOutOfWhatIsNotKnown(t *testing.T) {
	given := facts(t, selfDeployed(), nil)
	given.Options.DeployJobs = []string{"other"}
	if exit, err := check.FindExit(given); err != nil || !strings.Contains(exit.Unknown, `no job "other"`) {
		t.Errorf("%+v, %v", exit, err)
	}
	given.Manifests = nil
	if _, err := check.FindExit(given); err == nil {
		t.Error("without manifests there is a way out")
	}
	if _, err := check.FindExit(facts(t, selfDeployed().with("config.yaml", "a: ["), nil)); err == nil {
		t.Error("of a configuration that can't be read there is a way out")
	}
}

// TestWhatARevisionReverts: images, flags, and where the configuration is from; what is new and what is gone.
func TestWhatARevisionReverts(t *testing.T) {
	hook := func(image, more string) *manifest.Set {
		return manifest.Parse("hook.yaml", []byte("kind: Deployment\nmetadata: {name: hook, namespace: prow}\n"+
			"spec: {template: {spec: {containers: [{image: 'registry/prow/"+image+"', "+more+"}]}}}\n"))
	}
	mounted := func(name string) *manifest.Set {
		return manifest.Parse("hook.yaml", []byte("kind: Deployment\nmetadata: {name: hook, namespace: prow}\n"+
			"spec: {template: {spec: {containers: [{image: 'registry/prow/hook:v1', args: [--config-path=/c/config.yaml], "+
			"volumeMounts: [{name: c, mountPath: /c}]}], volumes: [{name: c, configMap: {name: "+name+"}}]}}}\n"))
	}
	none := &manifest.Set{}
	for rule, row := range map[string]struct {
		now, then *manifest.Set
		image     [2]string
		what      []string
		same      bool
	}{
		"nothing": {now: hook("hook:v1", "args: [a]"), then: hook("hook:v1", "args: [a]"), same: true},
		"an image": {now: hook("hook:v2", ""), then: hook("hook:v1", ""),
			image: [2]string{"registry/prow/hook:v2", "registry/prow/hook:v1"}},
		"flags": {now: hook("hook:v1", "args: [a, b]"), then: hook("hook:v1", "args: [a, c]"),
			image: [2]string{"registry/prow/hook:v1", "registry/prow/hook:v1"}, what: []string{"loses b", "gets c"}},
		"its configuration": {now: mounted("new"), then: mounted("old"),
			image: [2]string{"registry/prow/hook:v1", "registry/prow/hook:v1"}, what: []string{
				"--config-path from ConfigMap prow/old, key config.yaml, and not from ConfigMap prow/new, key config.yaml"}},
		"what is new":  {now: hook("hook:v2", ""), then: none, image: [2]string{"registry/prow/hook:v2", ""}},
		"what is gone": {now: none, then: hook("hook:v1", ""), image: [2]string{"", "registry/prow/hook:v1"}},
	} {
		reverts := check.Reverts(row.now, row.then)
		switch {
		case row.same && len(reverts) == 0:
		case len(reverts) != 1 || reverts[0].Now != row.image[0] || reverts[0].Then != row.image[1] ||
			!slices.Equal(reverts[0].What, row.what) || reverts[0].Workload != "Deployment prow/hook":
			t.Errorf("%s: %+v", rule, reverts)
		}
	}
}
