package breakglass

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/internal/diagnostic"
	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/manifest"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

// manifests reads those of one file each.
func manifests(files map[string]string) *manifest.Set {
	all := &manifest.Set{Folder: "manifests"}
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		one := manifest.Parse(name, []byte(files[name]))
		all.Objects = append(all.Objects, one.Objects...)
		all.Components = append(all.Components, one.Components...)
		all.Unreadable = append(all.Unreadable, one.Unreadable...)
	}
	return all
}

func deployment(name, image string) string {
	return "kind: Deployment\nmetadata: {name: " + name + ", namespace: prow}\n" +
		"spec: {template: {spec: {containers: [{image: 'registry/prow/" + image + "'}]}}}\n"
}

const separator = "---\n"

func input(now, then map[string]string) Input {
	return Input{
		Root: "/repo", Ref: "HEAD~1", Commit: commit, Context: "prow", Now: manifests(now), Then: manifests(then),
		Exit: check.Exit{Jobs: []check.DeployJob{{Name: "deploy", Needs: []check.Need{
			{Kind: "component", Name: "hook"}, {Kind: "Secret", Name: "prow/token"},
		}}}},
	}
}

func files(p Plan) (names []string) {
	for _, stage := range p.Stages {
		for _, file := range stage.Files {
			names = append(names, file.Path)
		}
	}
	return names
}

// TestOrder: what others need comes first, then what deploys Prow, and branchprotector last.
func TestOrder(t *testing.T) {
	then := map[string]string{
		"a-protector": "kind: CronJob\nmetadata: {name: p, namespace: prow}\nspec: {jobTemplate: {spec: {template: {spec: " +
			"{containers: [{image: 'registry/prow/branchprotector:v1'}]}}}}}\n",
		"b-deck":      deployment("deck", "deck:v1"),
		"c-hook":      deployment("hook", "hook:v1"),
		"d-service":   "kind: Service\nmetadata: {name: hook, namespace: prow}\n",
		"e-config":    "kind: ConfigMap\nmetadata: {name: config, namespace: prow}\n",
		"f-role":      "kind: Role\nmetadata: {name: hook, namespace: prow}\n",
		"g-namespace": "kind: Namespace\nmetadata: {name: prow}\n",
		"h-other":     "kind: Deployment\nmetadata: {name: other, namespace: prow}\nspec: {}\n",
	}
	p := Prepare(input(then, then))
	want := []string{"g-namespace", "f-role", "e-config", "d-service", "c-hook", "b-deck", "h-other", "a-protector"}
	if got := files(p); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !slices.Equal(p.Needs, []string{"hook"}) || len(p.Reverts)+len(p.Kept)+len(p.Objects) != 0 || p.Protector != "" {
		t.Errorf("of what is the same: %+v", p)
	}
}

// TestBranchprotectorIsNotPastedAlong: its command is a comment.
func TestBranchprotectorIsNotPastedAlong(t *testing.T) {
	then := map[string]string{"p.yaml": "kind: CronJob\nmetadata: {name: p}\n" +
		"spec: {jobTemplate: {spec: {template: {spec: {containers: [{image: 'registry/prow/branchprotector:v1'}]}}}}}\n"}
	if text := textOf(t, Prepare(input(nil, then))); !strings.Contains(text, "\n  # kubectl --context prow apply -f") {
		t.Error(text)
	}
}

// TestWhatIsReverted besides, and what stays.
func TestWhatIsReverted(t *testing.T) {
	protector := func(version string) string {
		return "kind: CronJob\nmetadata: {name: p, namespace: prow}\nspec: {jobTemplate: {spec: {template: {spec: " +
			"{containers: [{image: 'registry/prow/branchprotector:" + version + "'}]}}}}}\n"
	}
	settings := func(value string) string {
		return "kind: ConfigMap\nmetadata: {name: settings, namespace: prow}\ndata: {a: " + value + "}\n"
	}
	p := Prepare(input(map[string]string{
		"hook": deployment("hook", "hook:v2"), "protector": protector("v2"), "settings": settings("now"),
		"new": "kind: ConfigMap\nmetadata: {name: new, namespace: prow}\n",
	}, map[string]string{
		"hook": deployment("hook", "hook:v1"), "protector": protector("v1"), "settings": settings("then"),
		"old": "kind: ConfigMap\nmetadata: {name: old, namespace: prow}\n",
	}))
	if len(p.Reverts) != 2 || p.Reverts[0].Then != "registry/prow/hook:v1" ||
		!strings.Contains(p.Protector, "GOES BACK from registry/prow/branchprotector:v2 to registry/prow/branchprotector") {
		t.Errorf("%+v, %q", p.Reverts, p.Protector)
	}
	if want := []string{"makes ConfigMap prow/old", "changes ConfigMap prow/settings"}; !slices.Equal(p.Objects, want) {
		t.Errorf("%q", p.Objects)
	}
	if want := []string{"ConfigMap prow/new"}; !slices.Equal(p.Kept, want) {
		t.Errorf("%q", p.Kept)
	}
	both := map[string]string{"one": deployment("hook", "hook:v2") + separator + protector("v2")}
	was := map[string]string{"one": deployment("hook", "hook:v1") + separator + protector("v1")}
	if p := Prepare(input(both, was)); !strings.Contains(p.Protector, "one has it together with what deploys Prow") {
		t.Errorf("in one file: %q", p.Protector)
	}
	for says, row := range map[string][2]map[string]string{
		"COMES BACK":             {{}, {"protector": protector("v1")}},
		"is not in the revision": {{"protector": protector("v1")}, {}},
	} {
		if p := Prepare(input(row[0], row[1])); !strings.Contains(p.Protector, says) {
			t.Errorf("%q, want %q", p.Protector, says)
		}
	}
}

// TestQuotedWordsAreOneWordToAShell, and mean nothing to it.
func TestQuotedWordsAreOneWordToAShell(t *testing.T) {
	for _, word := range []string{
		"plain/path.yaml", "a b", "it's", `"`, "$(touch pwned)", "`touch pwned`", "$HOME", "a;b", "a&b", "a|b", "a>b", "*",
		"~", "a\\", "#a", "!a", "ä ü", "{a,b}", "a=b", "'", "''",
	} {
		quoted, err := quote(word)
		if err != nil {
			t.Errorf("%q: %v", word, err)
			continue
		}
		said, err := exec.Command("sh", "-c", "printf '%s|' "+quoted).Output()
		if err != nil || string(said) != word+"|" {
			t.Errorf("%q is %s, which sh takes for %q: %v", word, quoted, said, err)
		}
	}
	for _, word := range []string{"", "-f", "a\nb", "\x1b[31m", "a\x00", "a\u202eb", "\xff", "a\ufffd", "a\u2028"} {
		if quoted, err := quote(word); err == nil {
			t.Errorf("%q is %s", word, quoted)
		}
	}
}

// TestFileThatCanNotBeQuotedHasNoCommand, and is named; the others have theirs.
func TestFileThatCanNotBeQuotedHasNoCommand(t *testing.T) {
	then := map[string]string{
		"a\nkubectl delete --all": "kind: ConfigMap\nmetadata: {name: a}\n", "b": "kind: ConfigMap\nmetadata: {name: b}\n",
	}
	p := Prepare(input(then, then))
	text := textOf(t, p)
	if strings.Contains(text, "\nkubectl") || len(p.Commands) != 3 || !strings.Contains(text, "no command: manifest") {
		t.Errorf("%s", text)
	}
	for name, in := range map[string]Input{
		"a context": {Root: "/repo", Context: "a\nb"}, "a root": {Root: "/re\npo", Context: "a"},
	} {
		in.Commit, in.Now, in.Then = commit, manifests(then), manifests(then)
		if p := Prepare(in); len(p.Commands) != 0 || len(p.Unknown) == 0 {
			t.Errorf("%s: %v", name, p.Commands)
		}
	}
}

func textOf(t *testing.T, p Plan) string {
	t.Helper()
	var text strings.Builder
	if err := p.Text(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestStatedCommands are printed only of a way that is proven.
func TestStatedCommands(t *testing.T) {
	way := check.Way{Name: "make", Commands: []string{"make deploy REVISION={revision}"}, Exercised: time.Now(),
		Position: diagnostic.Position{File: "break-glass.yaml", Line: 2, Column: 3}}
	then := map[string]string{"a": "kind: ConfigMap\nmetadata: {name: a}\n"}
	in := input(then, then)
	in.Exit.Ways = []check.StatedWay{{Way: way, Lacks: []string{"never exercised"}}}
	if p := Prepare(in); p.Way != "" || len(p.Commands) != 3 {
		t.Errorf("a way that is not proven: %+v", p.Commands)
	}
	in.Exit.Ways = []check.StatedWay{{Way: way}}
	if p := Prepare(in); len(p.Commands) != 1 || p.Commands[0].Text != "make deploy REVISION="+commit {
		t.Errorf("a proven way: %+v", p.Commands)
	}
}

// TestWhoMayMerge by the policy, and what is not known.
func TestWhoMayMerge(t *testing.T) {
	branch := config.Branch{Org: "org", Repo: "infra", Name: "main"}
	for says, door := range map[string]check.Door{
		"unknown: cycle":                    {Unknown: "cycle"},
		"everybody who may write: it is so": {Open: "it is so"},
		"NOBODY, not even an admin":         {EnforceAdmins: true, Contexts: []string{"test"}},
		"the rules hold for admins too":     {EnforceAdmins: true},
		"admins of the repository":          {Contexts: []string{"test"}},
		"others may push only: users bot, teams oncall, apps none": {Restricted: true, Users: []string{"bot"},
			Teams: []string{"oncall"}},
		"approvals: 2": {Approvals: 2},
		"required and not reported while Prow is down: test": {Contexts: []string{"test"}},
	} {
		door.Branch = branch
		in := input(nil, nil)
		in.Exit.Doors = []check.Door{door}
		if text := textOf(t, Prepare(in)); !strings.Contains(text, says) || !strings.Contains(text, "org/infra=main") {
			t.Errorf("%q is not in\n%s", says, text)
		}
	}
}

// TestWhatCouldNotBeRead is said: a plan of a part is not the whole.
func TestWhatCouldNotBeRead(t *testing.T) {
	in := input(nil, nil)
	in.Now = manifests(map[string]string{"broken.yaml": "a: [", "a": "kind: ConfigMap\nmetadata: {name: a}\n"})
	in.Then = &manifest.Set{Folder: "manifests", LeftAlone: []manifest.LeftAlone{{Reason: "made by Helm"}}}
	in.Exit.Unknown = "no job found"
	text := textOf(t, Prepare(in))
	for _, says := range []string{
		"broken.yaml", "made by Helm", "which jobs deploy Prow: no job found", "has no manifest",
	} {
		if !strings.Contains(text, says) {
			t.Errorf("%q is not in\n%s", says, text)
		}
	}
}

// TestWhatNamesNoNamespaceIsSaid: kubectl puts it where the context says, which may be anywhere.
func TestWhatNamesNoNamespaceIsSaid(t *testing.T) {
	then := map[string]string{
		"hook": "kind: Deployment\nmetadata: {name: hook}\n",
		"roles": "kind: ClusterRole\nmetadata: {name: hook}\n" + separator +
			"kind: ServiceAccount\nmetadata: {name: hook, namespace: prow}\n",
	}
	plan := Prepare(input(nil, then))
	if len(plan.Unknown) != 1 || !strings.HasPrefix(plan.Unknown[0], "Deployment hook names no namespace") {
		t.Errorf("%q", plan.Unknown)
	}
}

// TestWhatWasNotUnderstoodWholeIsNotApplied: applying a file does all that is in it, and half of this one nobody has
// read. The rest of the plan is there, and says what is missing.
func TestWhatWasNotUnderstoodWholeIsNotApplied(t *testing.T) {
	half := deployment("hook", "hook:v1") + separator + "kind: Secret\nmetadata: [\n"
	in := input(nil, map[string]string{"half.yaml": half, "whole.yaml": deployment("deck", "deck:v1")})
	in.Then.LeftAlone = []manifest.LeftAlone{{Position: diagnostic.Position{File: "lost.yaml"}, Reason: "a link"}}
	p := Prepare(in)
	for _, command := range p.Commands {
		if strings.Contains(command.Text, "half.yaml") {
			t.Errorf("it has a command: %s", command.Text)
		}
	}
	text := textOf(t, p)
	for _, want := range []string{
		"THIS PLAN IS NOT WHOLE", "lost.yaml, at HEAD~1: a link", "half.yaml:",
		"half.yaml (not understood whole: no command)",
		`no command: manifest "half.yaml" was not understood whole: invalid YAML`, "apply -f /repo-0123456789ab/whole.yaml",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if whole := Prepare(input(nil, map[string]string{"whole.yaml": deployment("deck",
		"deck:v1")})); len(whole.Missing) != 0 ||
		strings.Contains(textOf(t, whole), "NOT WHOLE") {
		t.Errorf("of a whole plan: %q", whole.Missing)
	}
}
