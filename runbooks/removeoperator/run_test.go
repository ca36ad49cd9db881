package removeoperator_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"salve/engine"
	"salve/runbook"
)

var update = flag.Bool("update", false, "write the golden transcripts anew")

// TestStories tells the main stories, plan and run, as golden transcripts.
func TestStories(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		arrange func(*operator)
		ends    runbook.Outcome
		after   func(*operator)
	}{
		"retired": {
			arrange: func(o *operator) {
				o.deployment(0)
				o.rights()
				o.hooks()
				o.widget("plain")
				o.widget("stuck", held(o.finalizer(), "old."+o.group))
				o.gadget("wide", held("sub."+o.finalizer()))
			},
			ends: runbook.Remediated, after: (*operator).removed,
		},
		"foreign-finalizer": {
			arrange: func(o *operator) {
				o.widget("plain")
				o.widget("kept", held(o.finalizer(), "storage.example/protect"))
			},
			ends: runbook.NeedsAttention,
			after: func(o *operator) {
				left, err := o.admin.Dynamic.Resource(o.widgets).Namespace(o.team).Get(o.Context(), "kept", metav1.GetOptions{})
				o.must(err)
				if got := strings.Join(left.GetFinalizers(), " "); got != "storage.example/protect" {
					o.Errorf("the finalizers are %q", got)
				}
				o.unhold(o.Context(), o.widgets) // somebody else is done
				o.ends(o.run(), runbook.Remediated)
				o.removed()
			},
		},
		"alive": {
			arrange: func(o *operator) { o.deployment(1); o.widget("plain") },
			ends:    runbook.NothingToDo,
			after: func(o *operator) {
				if !o.there(o.widgets, o.team, "plain") {
					o.Error("an object of a living operator was deleted")
				}
			},
		},
		"stopped-first": {
			arrange: func(o *operator) {
				o.deployment(1)
				o.inputs.StopOperator = true
				o.widget("plain")
			},
			ends: runbook.Remediated, after: (*operator).removed,
		},
		"namespace-only": {
			arrange: func(o *operator) {
				o.inputs.Group = "nobody." + o.group
				o.hold(o.configMap(o.namespace, "held"), "nobody."+o.group+"/old")
			},
			ends: runbook.Remediated,
			after: func(o *operator) {
				if _, err := o.admin.Client.CoreV1().Namespaces().Get(o.Context(), o.namespace, metav1.GetOptions{}); err == nil {
					o.Error("the namespace is there")
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := retired(t)
			o.inputs.CascadeWait.Duration = 2 * untilNamespacesGo // the story is the same on a busy machine
			test.arrange(o)
			story := "# plan\n" + planned(o.plan())
			result := o.run()
			story += "# run\n" + o.story()
			o.ends(result, test.ends)
			o.golden(name, story)
			test.after(o)
		})
	}
}

func planned(result engine.Result) (text string) {
	for _, finding := range result.Findings {
		text += fmt.Sprintf("  %s %s: %s\n", finding.Guard, finding.Answer, finding.Reason)
	}
	if result.Plan == nil {
		return text + "ends " + string(result.Outcome) + ": " + result.Reason + "\n"
	}
	for _, step := range result.Plan.Steps {
		text += fmt.Sprintf("  %s: %s\n    %s\n", step.Name, step.Changes, step.Inputs)
	}
	return text
}

var varying = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// told is how a step began and ended, which depends on how quickly the cluster's own
// controllers were done.
var told = regexp.MustCompile(`(?m)^(step-(?:began|ended) [a-z-]+).*$`)

// lastChecks leaves the last round of checks of a story: how many there were before it
// depends on how quickly the namespace went.
func lastChecks(story string) string {
	const began, first = "checks-began  \n", "  checks: no-definition-left"
	at, last := strings.Index(story, began), strings.LastIndex(story, first)
	if at < 0 || last < 0 {
		return story
	}
	return story[:at+len(began)] + story[last:]
}

func (o *operator) golden(name, story string) {
	o.Helper()
	story = told.ReplaceAllString(varying.ReplaceAllString(o.named(lastChecks(story)), "UID"), "$1")
	file := filepath.Join("testdata", "transcripts", name+".txt")
	if *update {
		o.must(os.MkdirAll(filepath.Dir(file), 0o755))
		o.must(os.WriteFile(file, []byte(story), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	o.must(err)
	if difference := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(story, "\n")); difference != "" {
		o.Errorf("%s differs (-want +got; go test -update writes it anew):\n%s", file, difference)
	}
}

// TestADryRunNamesEveryObject: the plan holds the exact list, and changes nothing.
func TestADryRunNamesEveryObject(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.widget("one")
	o.object(o.widgets, "Widget", o.namespace, "two")
	o.gadget("three")
	result := o.plan()
	var inputs string
	for _, step := range result.Plan.Steps {
		if step.Name == "delete-objects" {
			inputs = o.named(string(step.Inputs))
		}
	}
	for _, want := range []string{`"OPERATOR":["two"]`, `"TEAM":["one"]`, `"gadgets.sub.GROUP":{"":["three"]}`, `"count":3`} {
		if !strings.Contains(inputs, want) {
			t.Errorf("%s is not in %s", want, inputs)
		}
	}
	if !o.there(o.widgets, o.team, "one") || !o.there(o.gadgets, "", "three") {
		t.Error("a plan changed something")
	}
	if strings.Contains(inputs, `"names"`) {
		t.Errorf("the objects are named twice: %s", inputs)
	}
	if again := o.plan(); again.Plan.Digest != result.Plan.Digest {
		t.Errorf("the digest of the same world is %s and %s", result.Plan.Digest, again.Plan.Digest)
	}
}

// TestWhatVanishesMeanwhileIsDone: the objects, a CRD and the whole API go away under
// the run's hands.
func TestWhatVanishesMeanwhileIsDone(t *testing.T) {
	t.Parallel()
	for name, vanish := range map[string]struct {
		step string
		what func(*operator)
	}{
		"an object before it is deleted": {"delete-objects", func(o *operator) { o.delete(o.widgets, o.team, "plain") }},
		"an API before its objects are deleted": {"delete-objects",
			func(o *operator) { o.undefine(o.gadgets.GroupResource().String()) }},
		"an API before finalizers are released": {"release-finalizers",
			func(o *operator) { o.undefine(o.gadgets.GroupResource().String()) }},
		"every API before CRDs are deleted": {"delete-definitions", func(o *operator) {
			o.undefine(o.gadgets.GroupResource().String())
			o.undefine(o.widgets.GroupResource().String())
		}},
		"the namespace before it is deleted": {"delete-namespace", func(o *operator) {
			o.must(o.admin.Client.CoreV1().Namespaces().Delete(o.Context(), o.namespace, metav1.DeleteOptions{}))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := retired(t)
			o.inputs.CascadeWait.Duration = untilNamespacesGo
			o.widget("plain")
			o.widget("stuck", held(o.finalizer()))
			o.gadget("wide")
			o.when(engine.StepBegan, vanish.step, func() { vanish.what(o) })
			o.ends(o.run(), runbook.Remediated)
			o.removed()
		})
	}
}

// undefine deletes a CRD and waits until it is gone.
func (o *operator) undefine(name string) {
	o.must(o.admin.Dynamic.Resource(crds).Delete(o.Context(), name, metav1.DeleteOptions{}))
	o.eventually(name+" is gone", func(ctx context.Context) bool {
		_, err := o.admin.Dynamic.Resource(crds).Get(ctx, name, metav1.GetOptions{})
		return err != nil
	})
}

// TestWhatWasNotExportedIsNotDeleted: an object that appears after the export keeps
// its CRD, and so does one that took the name of another.
func TestWhatWasNotExportedIsNotDeleted(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.widget("plain")
	o.widget("replaced")
	o.when(engine.StepBegan, "delete-objects", func() {
		o.widget("late", held(o.finalizer()))
		o.delete(o.widgets, o.team, "replaced")
		o.widget("replaced", func(object *unstructured.Unstructured) { object.SetLabels(map[string]string{"new": "yes"}) })
	})
	result := o.run()
	o.ends(result, runbook.NeedsAttention)
	if !strings.Contains(result.Reason, o.team+"/late") || !result.Open {
		t.Errorf("open %v: %s", result.Open, result.Reason)
	}
	if !o.there(o.widgets, o.team, "late") || !o.there(o.widgets, o.team, "replaced") ||
		o.there(o.widgets, o.team, "plain") {
		t.Errorf("not what was exported was deleted\n%s", o.story())
	}
	late, err := o.admin.Dynamic.Resource(o.widgets).Namespace(o.team).Get(t.Context(), "late", metav1.GetOptions{})
	o.must(err)
	if len(late.GetFinalizers()) != 1 {
		t.Error("an object that is not being deleted lost its finalizer")
	}
}

// TestProgressCountsTowardsATotal: a bar can be drawn from it.
func TestProgressCountsTowardsATotal(t *testing.T) {
	t.Parallel()
	o := retired(t)
	for _, name := range []string{"a", "b", "c"} {
		o.widget(name, held(o.finalizer()))
	}
	o.run()
	told := map[string]bool{}
	for _, event := range o.told {
		if event.Progress != nil {
			told[event.Step+": "+event.Progress.Text] = true
		}
	}
	for _, want := range []string{"export: 3 of 3 objects exported", "delete-objects: 3 of 3 objects deleted",
		"release-finalizers: 3 of 3 objects released", "delete-objects: 3 objects left"} {
		if !told[want] {
			t.Errorf("%q was not told: %v", want, told)
		}
	}
}
