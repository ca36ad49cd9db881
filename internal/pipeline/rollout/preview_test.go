package rollout_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
)

// TestPreviewNeedsNoFieldThatHasNoEffect: what a step would do is not hidden behind what it has no use for.
func TestPreviewNeedsNoFieldThatHasNoEffect(t *testing.T) {
	const mirror = `; action: ImageMirror | targetACR: {value: fleet} | sourceRegistry: {value: images.example} | ` +
		`repository: {value: web} | digest: {value: 'sha256:1'} | publicSource: true | ` +
		`shellIdentity: {input: {resourceGroup: g, step: a, name: identity}}`
	for name, row := range map[string]struct {
		ignores []string
		says    string
	}{
		"ignored": {[]string{"shellIdentity"}, "it would act"},
		"used":    {nil, "what it would do is known once the steps before it are done"},
		"another": {[]string{"digest"}, "what it would do is known once the steps before it are done"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				runner := b.runner()
				runner.Actions["ImageMirror"] = telling{scripted{b}, row.ignores}
				previews, err := runner.Preview(t.Context(), b.plan("", "a", "b"+mirror), false)
				if err != nil || previews[1].Says != row.says {
					t.Errorf("%v %+v, want %q", err, previews, row.says)
				}
			})
		})
	}
}

// telling is an action that says what it would do.
type telling struct {
	scripted
	ignores []string
}

func (a telling) Capabilities() rollout.Capabilities { return rollout.Capabilities{Ignores: a.ignores} }

func (telling) Preview(context.Context, *rollout.Attempt) (string, error) { return "it would act", nil }

// TestWhatIsWrongIsUnknownOnlyWhereItMayYetBeMade: an error is told apart by what it is, and by whether anything before
// the step may mend it.
func TestWhatIsWrongIsUnknownOnlyWhereItMayYetBeMade(t *testing.T) {
	denied := apierr.New(apierr.Denied, "who?")
	own := errors.New("its dry run: exit code 1")
	missing := fmt.Errorf("its cluster: %w", apierr.New(apierr.Missing, "there is none"))
	unseen := &rollout.UnseenError{Reason: "no answer"}
	unmade := fmt.Errorf("its template: %w", fs.ErrNotExist)
	const steps, groups, build = "the steps before it are done", "the service groups before it are rolled out",
		"the build step is done"
	const soak = "s; action: Soak | since: {resourceGroup: g, step: r} | duration: 1h"
	const skipped = `r; action: ImageMirror | targetACR: {value: fleet} | sourceRegistry: {value: images.example} | ` +
		`repository: {value: web} | digest: {value: 'sha256:1'} | publicSource: true | shellIdentity: {value: none}`
	for rule, row := range map[string]struct {
		checked, asked error
		steps          []string
		later, builds  bool
		unknown        string
	}{
		"its own dry run, in a later group":       {asked: own, later: true, steps: []string{"a", "b < a"}},
		"no credentials, in a later group":        {asked: denied, later: true, steps: []string{"b"}},
		"missing, and nothing before":             {asked: missing, steps: []string{"a", "b"}},
		"missing, after a step":                   {asked: missing, steps: []string{"a", "b < a"}, unknown: steps},
		"missing, after a step far before":        {asked: missing, steps: []string{"a", "c < a", "b < c"}, unknown: steps},
		"missing, in a later group":               {asked: missing, later: true, steps: []string{"b"}, unknown: groups},
		"missing, after what waits or is skipped": {asked: missing, steps: []string{skipped, soak, "b < s"}},
		"unseen, after a step":                    {asked: unseen, steps: []string{"a", "b < a"}, unknown: steps},
		"unseen, and nothing before":              {asked: unseen, steps: []string{"b"}},
		"no file":                                 {checked: unmade, later: true, steps: []string{"a", "b < a"}},
		"no file before the build":                {checked: unmade, builds: true, steps: []string{"b"}, unknown: build},
		"a wrong file before the build":           {checked: errors.New("no JSON"), builds: true, steps: []string{"b"}},
	} {
		t.Run(rule, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				b.skip("ImageMirror")
				runner := b.runner()
				runner.Actions["Shell"] = failing{scripted{b}, row.checked, row.asked}
				if row.builds {
					runner.Prepare = func(context.Context) (string, error) { return "", nil }
				}
				previews, err := runner.Preview(t.Context(), b.plan("", row.steps...), row.later)
				if err != nil {
					t.Fatal(err)
				}
				for _, one := range previews {
					wrong := row.checked
					if wrong == nil {
						wrong = row.asked
					}
					switch {
					case one.Step != "g/b":
						if one.Failed != "" {
							t.Errorf("%s failed: %s", one.Step, one.Failed)
						}
					case row.unknown == "":
						if one.Failed != wrong.Error() || !errors.Is(one.Err, wrong) || one.Unknown || one.Says != "" {
							t.Errorf("want a failure, got %+v", one)
						}
					case !one.Unknown || one.Failed != "" || one.Err != nil ||
						one.Says != "what it would do is known once "+row.unknown+": "+wrong.Error():
						t.Errorf("want %q, got %+v", row.unknown, one)
					}
				}
			})
		})
	}
}

// TestAllThatFailsIsSaid, and the steps that don't fail are asked all the same.
func TestAllThatFailsIsSaid(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		runner := b.runner()
		runner.Actions["Shell"] = failing{scripted{b}, nil, errors.New("exit code 1")}
		runner.Actions["ImageMirror"] = telling{scripted{b}, nil}
		const mirror = `m; action: ImageMirror | targetACR: {value: fleet} | sourceRegistry: {value: images.example} | ` +
			`repository: {value: web} | digest: {value: 'sha256:1'} | publicSource: true | shellIdentity: {value: none}`
		const register = `r; action: Ev2Registration | identityFrom: {resourceGroup: g, step: a, name: id}`
		previews, err := runner.Preview(t.Context(), b.plan("", "a", "b", register, mirror, "c < b"), false)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, one := range previews {
			said = append(said, one.Step+": "+one.Says+one.Failed)
		}
		want := "g/a: it would act|g/b: exit code 1|g/m: it would act|g/r: no program salve-action-Ev2Registration was " +
			"found, which runs its action|g/c: it would act"
		if got := strings.Join(said, "|"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// TestPreviewIsCutOff: what fails for that is no failure of the steps.
func TestPreviewIsCutOff(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		ctx, cancel := context.WithCancelCause(t.Context())
		stopped := errors.New("stopped")
		cancel(stopped)
		if _, err := b.runner().Preview(ctx, b.plan("", "a"), false); !errors.Is(err, stopped) {
			t.Errorf("got %v", err)
		}
	})
}

// failing is an action of which step b is refused, or fails in its dry run.
type failing struct {
	scripted
	checked, asked error
}

func (f failing) Check(_ context.Context, step *pipeline.Step) error {
	if step.Name.Value != "b" {
		return nil
	}
	return f.checked
}

func (f failing) Preview(_ context.Context, attempt *rollout.Attempt) (string, error) {
	if attempt.Step.Name.Value != "b" {
		return "it would act", nil
	}
	return "", f.asked
}
