package manifest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"salve/internal/prow/manifest"
)

func read(files map[string]string) *manifest.Set {
	tree := fstest.MapFS{}
	for name, content := range files {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return manifest.Read(tree, "prow", "")
}

// pod is a workload with one container, in the words of its kind.
func pod(kind, image, args string) string {
	spec := "{containers: [{name: c, image: '" + image + "', args: " + args + "}]}"
	head := "kind: " + kind + "\nmetadata: {name: w, namespace: n}\nspec: "
	switch kind {
	case "Pod":
		return head + spec + "\n"
	case "CronJob":
		return head + "{jobTemplate: {spec: {template: {spec: " + spec + "}}}}\n"
	}
	return head + "{template: {spec: " + spec + "}}\n"
}

func TestComponentsAreKnownByImageAndCommand(t *testing.T) {
	for name, test := range map[string]struct {
		object string
		want   string // name, workload, version; empty for none
	}{
		"a Deployment":  {pod("Deployment", "gcr.io/k8s-prow/hook:v1", "[]"), "hook Deployment n/w v1"},
		"a StatefulSet": {pod("StatefulSet", "gcr.io/k8s-prow/crier:v1", "[]"), "crier StatefulSet n/w v1"},
		"a CronJob":     {pod("CronJob", "gcr.io/k8s-prow/branchprotector:v1", "[]"), "branchprotector CronJob n/w v1"},
		"a Job":         {pod("Job", "gcr.io/k8s-prow/branchprotector:v1", "[]"), "branchprotector Job n/w v1"},
		"a Pod":         {pod("Pod", "gcr.io/k8s-prow/tide:v1", "[]"), "tide Pod n/w v1"},
		"without a tag": {pod("Pod", "gcr.io/k8s-prow/tide", "[]"), "tide Pod n/w latest"},
		"by digest":     {pod("Pod", "gcr.io/k8s-prow/tide:v1@sha256:ab", "[]"), "tide Pod n/w sha256:ab"},
		"a registry's port": {pod("Pod", "localhost:5001/sinker", "[--config-path=/etc/config/config.yaml]"),
			"sinker Pod n/w latest"},
		"by its command":          {pod("Pod", "mirror/prow-all:v1", "[/ko-app/deck, --config-path=/c]"), "deck Pod n/w v1"},
		"a deck of somebody else": {pod("Deployment", "kong/deck:v1", "[sync]"), ""},
		"a pipeline of tekton":    {pod("Deployment", "gcr.io/tekton/pipeline:v1", "[]"), ""},
		"an image of tests":       {pod("Deployment", "gcr.io/k8s-prow/checkconfig:v1", "[]"), ""},
		"another kind":            {"kind: Service\nmetadata: {name: hook}\n", ""},
		"in a list": {"kind: List\nitems:\n- " + strings.ReplaceAll(pod("Pod", "x/prow/hook:v2", "[]"), "\n",
			"\n  "), "hook Pod n/w v2"},
	} {
		t.Run(name, func(t *testing.T) {
			set := read(map[string]string{"prow/a.yaml": test.object})
			got := ""
			for _, c := range set.Components {
				got += fmt.Sprintf("%s %s %s", c.Name, c.Workload(), c.Image.Version())
			}
			if got != test.want || set.Incomplete() {
				t.Errorf("got %q, want %q; %v", got, test.want, set.Unreadable)
			}
		})
	}
}

func TestWhereTheConfigurationComesFrom(t *testing.T) {
	component := func(arg, mounts, volumes string) string {
		return "kind: Deployment\nmetadata: {name: hook, namespace: n}\nspec: {template: {spec: {containers: [{image: " +
			"x/prow/hook:v1, " +
			"command: [/hook], args: " + arg + ", volumeMounts: " + mounts + "}], volumes: " + volumes + "}}}\n"
	}
	const mounts = "[{name: c, mountPath: /etc/config}]"
	for name, test := range map[string]struct{ object, want string }{
		"a ConfigMap": {component("[--config-path=/etc/config/config.yaml]", mounts,
			"[{name: c, configMap: {name: config}}]"),
			"ConfigMap n/config, key config.yaml"},
		"a flag of two words": {component("[-config-path, /etc/config/config.yaml]", mounts,
			"[{name: c, configMap: {name: config}}]"),
			"ConfigMap n/config, key config.yaml"},
		"a key under another name": {component("[--config-path=/etc/config/config.yaml]", mounts,
			"[{name: c, configMap: {name: config, items: [{key: prod, path: config.yaml}]}}]"), "ConfigMap n/config, key prod"},
		"the deeper of two mounts": {component("[--config-path=/etc/config/config.yaml]",
			"[{name: o, mountPath: /etc}, {name: c, mountPath: /etc/config}]",
			"[{name: o, emptyDir: {}}, {name: c, configMap: {name: config}}]"), "ConfigMap n/config, key config.yaml"},
		"several ConfigMaps": {component("[--config-path=/etc/config/config.yaml]", mounts,
			"[{name: c, projected: {sources: [{configMap: {name: a}}, {configMap: {name: b}}]}}]"),
			"ConfigMaps a, b, path /etc/config/config.yaml"},
		"a folder of git": {component("[--config-path=/etc/config/config.yaml]", mounts, "[{name: c, emptyDir: {}}]"),
			"volume c, path /etc/config/config.yaml"},
		"no volume": {component("[--config-path=/config.yaml]", mounts, "[]"), "path /config.yaml"},
		"no flag":   {component("[--dry-run]", mounts, "[]"), "none"},
	} {
		t.Run(name, func(t *testing.T) {
			set := read(map[string]string{"prow/a.yaml": test.object})
			if len(set.Components) != 1 {
				t.Fatalf("%+v", set)
			}
			got := "none"
			if source := set.Components[0].Config; source != nil {
				got = source.String()
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestFolders(t *testing.T) {
	set := read(map[string]string{
		"prow/a.yaml": pod("Pod", "x/prow/hook:v1", "[]") + "---\n" + pod("Pod", "x/prow/tide:v1", "[]") +
			"---\nkind: Secret\nmetadata: {name: s, namespace: n}\n---\n# nothing\n---\nkind: ConfigMap\nmetadata: {name: " +
			"c}\ndata: {a: b}\n",
		"prow/deep/b.yml":                 pod("Pod", "x/prow/crier:v1", "[]"),
		"prow/c.json":                     `{"kind": "Pod", "spec": {"containers": [{"image": "x/prow/deck:v1"}]}}`,
		"prow/notes.md":                   "kind: [",
		"prow/.git/d.yaml":                "kind: [",
		"prow/chart/Chart.yaml":           "name: x\n",
		"prow/chart/templates/a.yaml":     "{{ if }}",
		"prow/overlay/kustomization.yaml": "resources: []\n",
		"prow/overlay/e.yaml":             pod("Pod", "x/prow/sinker:v1", "[]"),
		"elsewhere/f.yaml":                pod("Pod", "x/prow/sinker:v1", "[]"),
	})
	var names []string
	for _, c := range set.Components {
		names = append(names, c.Name+" "+c.Position.String())
	}
	want := []string{"crier prow/deep/b.yml:3:38", "deck prow/c.json:1:51", "hook prow/a.yaml:3:38",
		"tide prow/a.yaml:7:38"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if set.Secrets["n/s"].Line != 10 || set.ConfigMaps["c"].Data["a"] != "b" || len(set.Unreadable) != 0 ||
		!set.Incomplete() {
		t.Errorf("%+v", set)
	}
	var left []string
	for _, l := range set.LeftAlone {
		left = append(left, l.Position.String()+" "+strings.Split(l.Reason, ",")[0])
	}
	if diff := cmp.Diff([]string{"prow/chart/Chart.yaml made by Helm",
		"prow/overlay/kustomization.yaml made by kustomize"},
		left); diff != "" {
		t.Error(diff)
	}
	if found := set.Named("deck", "tide"); len(found) != 2 {
		t.Errorf("%+v", found)
	}
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no folder":            {"other/a.yaml": ""},
		"no YAML":              {"prow/a.yaml": "kind: Pod\n---\na: [\n"},
		"a spec of no pod":     {"prow/a.yaml": "kind: Deployment\nspec: [1]\n"},
		"a file too large":     {"prow/a.yaml": strings.Repeat("#", 9<<20)},
		"data that is no text": {"prow/a.yaml": "kind: ConfigMap\ndata: [1]\n"},
	} {
		if set := read(files); len(set.Unreadable) != 1 || !set.Incomplete() {
			t.Errorf("%s: %+v", name, set.Unreadable)
		}
	}
}
