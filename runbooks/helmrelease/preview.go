package helmrelease

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"salve/internal/helm"
)

// Preview says what a run would change of the release, object by object, and changes nothing. Of fields it names the
// paths, and shows numbers, truths and images: what a Secret holds, and any other text, is not shown.
func Preview(ctx context.Context, world World, in Inputs, order Order) (string, error) {
	if err := in.validate(); err != nil {
		return "", err
	}
	if err := order.validate(); err != nil {
		return "", err
	}
	r := newRelease(world, in, order)
	revisions, err := r.history(ctx)
	if err != nil {
		return "", err
	}
	manifest, err := r.rendered(ctx, nil)
	if err != nil {
		return "", order.maskError(err)
	}
	after, err := helm.Objects(manifest)
	if err != nil {
		return "", err
	}
	before, words := map[string]*unstructured.Unstructured{}, fmt.Sprintf("installs release %s", in.Release)
	for _, one := range revisions {
		if one.Status == helm.Deployed {
			words = fmt.Sprintf("upgrades release %s, revision %d", in.Release, one.Number)
			if before, err = helm.Objects(one.Manifest); err != nil {
				return "", err
			}
			break
		}
	}
	lines := []string{fmt.Sprintf("%s, with chart %s %s", words, order.Chart.Name, order.Chart.Version)}
	if from := order.Origin; from.Reference != "" {
		lines[0] += fmt.Sprintf(" (%s, %s)", from.Reference, from.Digest)
	}
	if len(revisions) > 0 && revisions[0].Pending() {
		lines = append(lines, fmt.Sprintf("! revision %d is %s: nothing is changed before that is over",
			revisions[0].Number, revisions[0].Status))
	}
	for _, one := range order.namespaces(in.Namespace) {
		if why, err := r.lacking(ctx, one); err != nil {
			return "", err
		} else if why != "" {
			lines = append(lines, "+ "+why)
		}
	}
	changes := difference(before, after)
	if len(changes) == 0 {
		changes = []string{"= no object would change"}
	}
	for _, line := range changes {
		lines = append(lines, order.mask(line))
	}
	return strings.Join(lines, "\n"), nil
}

// difference lists what is made, changed and deleted.
func difference(before, after map[string]*unstructured.Unstructured) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if after[name] == nil {
			lines = append(lines, "- "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		switch was := before[name]; {
		case was == nil:
			lines = append(lines, "+ "+name)
		default:
			hidden := after[name].GetKind() == "Secret"
			if changed := fields("", was.Object, after[name].Object, hidden); len(changed) > 0 {
				lines = append(lines, "~ "+name+": "+strings.Join(changed, ", "))
			}
		}
	}
	return lines
}

// fields are the paths at which two values differ.
func fields(path string, before, after any, hidden bool) (all []string) {
	switch was := before.(type) {
	case map[string]any:
		is, ok := after.(map[string]any)
		if !ok {
			break
		}
		names := map[string]bool{}
		for name := range was {
			names[name] = true
		}
		for name := range is {
			names[name] = true
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			all = append(all, fields(strings.TrimPrefix(path+"."+name, "."), was[name], is[name], hidden)...)
		}
		return all
	case []any:
		is, ok := after.([]any)
		if !ok || len(is) != len(was) {
			break
		}
		for i := range was {
			all = append(all, fields(fmt.Sprintf("%s[%d]", path, i), was[i], is[i], hidden)...)
		}
		return all
	}
	if reflect.DeepEqual(before, after) {
		return nil
	}
	if !hidden && open(path, before) && open(path, after) {
		return []string{fmt.Sprintf("%s %v → %v", path, before, after)}
	}
	return []string{path}
}

// open tells whether a value may be shown.
func open(path string, value any) bool {
	switch value.(type) {
	case bool, int64, float64:
		return true
	case string:
		return strings.HasSuffix(path, ".image")
	}
	return false
}
