package rollout_test

import (
	"context"
	"testing"

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
				previews, err := runner.Preview(t.Context(), b.plan("", "a", "b"+mirror))
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
