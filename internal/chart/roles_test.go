package chart_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// TestRolesOfTheChartAreThoseOfDeploy: what a test of a runbook has found to be enough, and no more, is what the chart
// binds.
func TestRolesOfTheChartAreThoseOfDeploy(t *testing.T) {
	files, err := filepath.Glob(folder + "/roles/*-role*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		ours, theirs := read(t, path), read(t, "../../deploy/"+filepath.Base(path))
		if ours != theirs {
			t.Errorf("%s is not deploy/%[2]s. hint: cp deploy/%[2]s deploy/helm/salve/roles/", path, filepath.Base(path))
		}
	}
}

// TestScopesOfRolesAreKnown: each role in the files has a scope, and each scope a role.
func TestScopesOfRolesAreKnown(t *testing.T) {
	var kept struct {
		Files  map[string][]string
		Scopes map[string]string
	}
	if err := yaml.UnmarshalStrict([]byte(read(t, folder+"/roles/scopes.yaml")), &kept); err != nil {
		t.Fatal(err)
	}
	unused := map[string]bool{}
	for role := range kept.Scopes {
		unused[role] = true
	}
	for _, files := range kept.Files {
		for _, file := range files {
			for _, role := range rolesIn(t, folder+"/roles/"+file) {
				if kept.Scopes[role.Name] == "" {
					t.Errorf("%s in %s has no scope", role.Name, file)
				}
				delete(unused, role.Name)
			}
		}
	}
	for role := range unused {
		t.Errorf("%s has a scope, and is in no file", role)
	}
}

// TestWhatOnlyLooksMayChangeNothing, whatever the roles of its runbook allow.
func TestWhatOnlyLooksMayChangeNothing(t *testing.T) {
	for _, name := range []string{"watch", "aks"} {
		roles := rolesOf(t, objects(t, name))
		if len(roles) == 0 {
			t.Errorf("%s has no roles", name)
		}
		for _, role := range roles {
			for _, rule := range role.Rules {
				for _, verb := range rule.Verbs {
					if !slices.Contains([]string{"get", "list", "watch"}, verb) {
						t.Errorf("%s: %s may %s %v", name, role.Name, verb, rule.Resources)
					}
				}
			}
		}
	}
}

// TestRunsGetTheRolesOfTheirRunbookWhole: of a run nothing is left out, and what isn't a runner's is not bound.
func TestRunsGetTheRolesOfTheirRunbookWhole(t *testing.T) {
	given := rulesOf(rolesOf(t, objects(t, "job")))
	want := rulesOf(rolesIn(t, "../../deploy/rescue-stranded-pods-role.yaml"))
	for _, role := range rolesIn(t, "../../deploy/exports-role.yaml") {
		if role.Name == "salve-exports" {
			want = append(want, rulesOf([]rbacv1.ClusterRole{role})...)
		}
	}
	slices.Sort(given)
	slices.Sort(want)
	if !slices.Equal(given, want) {
		t.Errorf("got\n%q\nwant\n%q", given, want)
	}
}

// TestAnotherIdentityGetsTheRights: where the credential is a cloud's, the service account gets none.
func TestAnotherIdentityGetsTheRights(t *testing.T) {
	for _, object := range objects(t, "aks") {
		subjects, found, err := unstructured.NestedSlice(object.Object, "subjects")
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			continue
		}
		for _, subject := range subjects {
			if subject.(map[string]any)["kind"] != "User" {
				t.Errorf("%s binds %v", object.GetName(), subject)
			}
		}
	}
}

func objects(t *testing.T, name string) []*unstructured.Unstructured {
	t.Helper()
	found, err := release(name).Objects()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// rolesOf reads the roles of both kinds.
func rolesOf(t *testing.T, objects []*unstructured.Unstructured) (roles []rbacv1.ClusterRole) {
	t.Helper()
	for _, object := range objects {
		if kind := object.GetKind(); kind != "Role" && kind != "ClusterRole" {
			continue
		}
		var role rbacv1.ClusterRole
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role); err != nil {
			t.Fatal(err)
		}
		roles = append(roles, role)
	}
	return roles
}

func rulesOf(roles []rbacv1.ClusterRole) (rules []string) {
	for _, role := range roles {
		for _, rule := range role.Rules {
			rules = append(rules, rule.String())
		}
	}
	return rules
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// rolesIn reads the roles of both kinds in a file.
func rolesIn(t *testing.T, path string) []rbacv1.ClusterRole {
	t.Helper()
	var found []*unstructured.Unstructured
	for document := range strings.SplitSeq(read(t, path), "\n---\n") {
		found = append(found, decode(t, document))
	}
	return rolesOf(t, found)
}
