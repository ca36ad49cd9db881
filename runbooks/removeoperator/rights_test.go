package removeoperator_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"salve/engine"
	"salve/internal/permit"
	"salve/journal/configmap"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/removeoperator/cleanup"
)

// expiring refuses the second page of each list once, as an API server does that
// has compacted what the first one was of.
type expiring struct {
	path    string
	refused atomic.Int64
}

func (e *expiring) pass(request *http.Request, next http.RoundTripper) (*http.Response, error) {
	paged := request.URL.Query().Get("continue") != "" && strings.Contains(request.URL.Path, e.path)
	if !paged || e.refused.Add(1) > 1 {
		return next.RoundTrip(request)
	}
	body := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"The provided continue parameter is too old"}`
	return &http.Response{
		StatusCode: http.StatusGone, Status: "410 Gone", Proto: "HTTP/2.0", ProtoMajor: 2, Request: request,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewBufferString(body)),
	}, nil
}

const (
	rolesFile   = "../../deploy/remove-operator-role.yaml"
	exportsFile = "../../deploy/exports-role.yaml"
)

// roles are the ClusterRoles of the file, for the group of the test, and that of exports.
func (o *operator) roles() []*rbacv1.ClusterRole {
	o.Helper()
	roles := o.rolesIn(rolesFile)
	for _, role := range o.rolesIn(exportsFile) {
		if role.Name == "salve-exports" {
			roles = append(roles, role)
		}
	}
	return roles
}

func (o *operator) rolesIn(file string) (roles []*rbacv1.ClusterRole) {
	o.Helper()
	raw, err := os.ReadFile(file)
	o.must(err)
	documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(strings.ReplaceAll(string(raw), "example.io", o.group)), 4096)
	for {
		role := &rbacv1.ClusterRole{}
		if err := documents.Decode(role); errors.Is(err, io.EOF) {
			return roles
		} else if o.must(err); role.Kind == "ClusterRole" {
			roles = append(roles, role)
		}
	}
}

// as makes the run's user one who has the roles of the file, edited, and gives a
// function that edits them again.
func (o *operator) as(user string, edit func(*rbacv1.ClusterRole)) (again func(func(*rbacv1.ClusterRole))) {
	o.Helper()
	user += "-" + o.namespace
	for _, role := range o.roles() {
		role.Name += "-" + user
		edit(role)
		_, err := o.admin.Client.RbacV1().ClusterRoles().Create(o.Context(), role, metav1.CreateOptions{})
		o.must(err)
		_, err = o.admin.Client.RbacV1().ClusterRoleBindings().Create(o.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role.Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		}, metav1.CreateOptions{})
		o.must(err)
		o.Cleanup(func() {
			ctx, cancel := o.afterwards()
			defer cancel()
			_ = o.admin.Client.RbacV1().ClusterRoleBindings().Delete(ctx, role.Name, metav1.DeleteOptions{})
			_ = o.admin.Client.RbacV1().ClusterRoles().Delete(ctx, role.Name, metav1.DeleteOptions{})
		})
	}
	o.user = user
	o.cluster = connected(o.TB, o.plane.KubeconfigOf(o.TB, user))
	return func(edit func(*rbacv1.ClusterRole)) {
		for _, role := range o.roles() {
			role.Name += "-" + user
			edit(role)
			_, err := o.admin.Client.RbacV1().ClusterRoles().Update(o.Context(), role, metav1.UpdateOptions{})
			o.must(err)
		}
	}
}

func nothing(*rbacv1.ClusterRole) {}

// lists takes the right to see everything, and leaves that to see some groups.
func lists(groups ...string) func(*rbacv1.ClusterRole) {
	return func(role *rbacv1.ClusterRole) {
		for i := range role.Rules {
			if slices.Contains(role.Rules[i].Verbs, "get") && role.Rules[i].APIGroups[0] == "*" {
				role.Rules[i].APIGroups = groups
			}
		}
	}
}

// TestWhatMayNotBeSeenIsUnknown: a 403 is never taken for absent.
func TestWhatMayNotBeSeenIsUnknown(t *testing.T) {
	t.Parallel()
	for name, seen := range map[string][]string{
		"nothing at all": {"nowhere.example"},
		"all but CRDs": {"", "apps", "batch", "rbac.authorization.k8s.io", "admissionregistration.k8s.io",
			"apiregistration.k8s.io", "coordination.k8s.io"},
		"all but leases": {"", "apps", "batch", "rbac.authorization.k8s.io", "admissionregistration.k8s.io",
			"apiregistration.k8s.io", "apiextensions.k8s.io", "GROUP", "sub.GROUP"},
		"all but the rest": {"", "apps", "batch", "rbac.authorization.k8s.io", "admissionregistration.k8s.io",
			"apiregistration.k8s.io", "apiextensions.k8s.io", "coordination.k8s.io", "GROUP", "sub.GROUP"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := retired(t)
			o.widget("plain")
			groups := strings.Split(strings.ReplaceAll(strings.Join(seen, ","), "GROUP", o.group), ",")
			o.as("short-sighted", lists(groups...))
			result := o.run()
			o.ends(result, runbook.Undecided)
			if !strings.Contains(result.Reason, "forbidden") {
				t.Errorf("the reason is %s", result.Reason)
			}
			if !o.there(o.widgets, o.team, "plain") {
				t.Error("something was deleted")
			}
		})
	}
}

// TestRightsAreLostInTheMiddle: the run stops, says that it can't see, and goes on
// when the rights are back.
func TestRightsAreLostInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"delete-objects", "release-finalizers", "delete-definitions", "delete-namespace"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			o := retired(t)
			o.inputs.CascadeWait.Duration = untilNamespacesGo
			o.widget("plain")
			o.widget("stuck", held(o.finalizer()))
			again := o.as("dismissed", nothing)
			o.when(engine.StepEnded, before[step], func() {
				again(lists("nowhere.example"))
				o.eventually("the rights are lost", func(ctx context.Context) bool {
					_, err := (&cleanup.Operator{Cluster: o.cluster, Group: o.group}).Definitions(ctx)
					return err != nil
				})
			})
			result := o.run()
			want := runbook.NeedsAttention
			if step == "delete-objects" {
				want = runbook.Undecided // nothing was removed yet
			}
			o.ends(result, want)
			if !strings.Contains(result.Reason, "forbidden") || !strings.Contains(result.Reason, "is unknown") {
				t.Errorf("the reason is %s", result.Reason)
			}
			again(nothing)
			o.eventually("the rights are back", func(ctx context.Context) bool {
				_, err := (&cleanup.Operator{Cluster: o.cluster, Group: o.group}).Definitions(ctx)
				return err == nil
			})
			o.ends(o.run(), runbook.Remediated)
			o.removed()
		})
	}
}

// before is the step that comes before another one.
var before = map[string]string{
	"delete-objects": "remove-hooks", "release-finalizers": "delete-objects",
	"delete-definitions": "release-finalizers", "delete-namespace": "delete-operator",
}

// TestTheRoleInDeployIsExactlyWhatIsUsed: the runbook passes with it, its journal in
// the cluster, and each right in it is used.
func TestTheRoleInDeployIsExactlyWhatIsUsed(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.inputs.CascadeWait.Duration = untilNamespacesGo / 2
	o.deployment(1)
	o.inputs.StopOperator = true
	o.rights()
	o.hooks()
	o.widget("stuck", held(o.finalizer()))
	o.as("runner", nothing)
	admins, err := configmap.New(configmap.Options{Client: o.admin.Client, Clock: o.admin.Clock, Namespace: o.team})
	o.must(err)
	_, err = admins.MakeKey(t.Context(), "remove-operator")
	o.must(err)
	o.exportsNamespace()
	client, err := kube.JournalClient(o.cluster, permit.ForJournal(configmap.Namespaces(o.team)...))
	o.must(err)
	kept, err := configmap.New(configmap.Options{Client: client, Clock: o.cluster.Clock, Namespace: o.team})
	o.must(err)
	o.journal = kept
	_, err = kept.OpenRuns(t.Context()) // as the command line does for --role
	o.must(err)
	o.ends(o.run(), runbook.Remediated)
	o.removed()

	var given []string
	for _, role := range o.roles() {
		given = append(given, rightsOf(role)...)
	}
	used := o.plane.Requests(t, o.user)
	for _, right := range used {
		verb, resource, _ := strings.Cut(right, " ")
		_, group, _ := strings.Cut(resource, ".")
		if !slices.Contains(given, right) && !slices.Contains(given, verb+" *.*") &&
			!slices.Contains(given, verb+" *."+group) {
			t.Errorf("%q was asked for and is not in %s", right, rolesFile)
		}
	}
	for _, right := range given {
		verb, resource, _ := strings.Cut(right, " ")
		one := func(used string) bool {
			return used == right || strings.HasPrefix(used, verb+" ") &&
				(resource == "*.*" || resource == "*."+o.group && strings.HasSuffix(used, "."+o.group))
		}
		if !slices.ContainsFunc(used, one) && seldom[o.named(right)] == "" {
			t.Errorf("%q is in %s and was not used", o.named(right), rolesFile)
		}
	}
}

// exportsNamespace makes the one of a journal in the team's namespace, as whoever applies the file of roles does.
func (o *operator) exportsNamespace() {
	o.Helper()
	name := configmap.Namespaces(o.team)[1]
	exports := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := o.admin.Client.CoreV1().Namespaces().Create(o.Context(), exports, metav1.CreateOptions{})
	o.must(err)
	o.Cleanup(func() {
		ctx, cancel := o.afterwards()
		defer cancel()
		_ = o.admin.Client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
	})
}

// seldom are rights that this run does not use.
var seldom = map[string]string{
	"watch *.sub.GROUP":  "the group below has no object that is waited for",
	"patch *.sub.GROUP":  "nor one that is stuck",
	"delete *.sub.GROUP": "nor one at all",
	"patch customresourcedefinitions.apiextensions.k8s.io":              "no CRD is stuck",
	"patch mutatingwebhookconfigurations.admissionregistration.k8s.io":  "there is none",
	"delete mutatingwebhookconfigurations.admissionregistration.k8s.io": "there is none",
	"delete apiservices.apiregistration.k8s.io":                         "there is none: it would blind the other tests",
	"delete statefulsets.apps":                                          "there is none",
	"delete daemonsets.apps":                                            "there is none",
	"delete cronjobs.batch":                                             "there is none",
	"delete jobs.batch":                                                 "there is none",
	"patch statefulsets/scale":                                          "there is none",
	"update leases.coordination.k8s.io": "a run this short may end before it renews " +
		"its lease",
}

// rightsOf are those of a role, as "verb resource.group".
func rightsOf(role *rbacv1.ClusterRole) (rights []string) {
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				if group != "" && !strings.Contains(resource, "/") {
					resource += "." + group
				}
				for _, verb := range rule.Verbs {
					rights = append(rights, verb+" "+resource)
				}
			}
		}
	}
	return rights
}
