package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unique"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Bounds on what others wrote.
const (
	// maxText bounds a text in bytes: more than any name that Prow or GitHub allow.
	maxText = 1024
	// maxProse bounds a text that is shown and never compared, in bytes.
	maxProse = 256
	// maxPulls bounds the pull requests of one job: many more than Tide puts in a batch.
	maxPulls = 500
)

// fields reads the fields of an object. What is not there is zero; the first that can't be read is remembered.
type fields struct {
	object map[string]any
	err    error
}

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// field is a value of type T below a path.
func field[T any](f *fields, path []string) (value T, found bool) {
	raw, found, err := unstructured.NestedFieldNoCopy(f.object, path...)
	if err != nil || !found || raw == nil {
		if err != nil {
			f.fail("%s can't be reached: %w", strings.Join(path, "."), err)
		}
		return value, false
	}
	value, ok := raw.(T)
	if !ok {
		f.fail("%s is %T", strings.Join(path, "."), raw)
	}
	return value, ok
}

// text is a text that is compared with others. Most occur often: they are kept once.
func (f *fields) text(path ...string) string {
	text, _ := field[string](f, path)
	if len(text) > maxText {
		f.fail("%s has %d bytes, more than %d", strings.Join(path, "."), len(text), maxText)
		return ""
	}
	return intern(text)
}

// prose is a text for people.
func (f *fields) prose(path ...string) string {
	text, _ := field[string](f, path)
	return bounded(text)
}

func (f *fields) oneOf(known []string, path ...string) string {
	text := f.text(path...)
	if !slices.Contains(known, text) {
		f.fail("%s is %q, and none of %s", strings.Join(path, "."), bounded(text), strings.Join(known, ", "))
	}
	return text
}

func (f *fields) flag(path ...string) bool {
	value, _ := field[bool](f, path)
	return value
}

func (f *fields) number(path ...string) int64 {
	value, _ := field[int64](f, path)
	if value < 0 {
		f.fail("%s is %d", strings.Join(path, "."), value)
	}
	return value
}

func (f *fields) moment(path ...string) time.Time {
	text := f.prose(path...)
	if text == "" {
		return time.Time{}
	}
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		f.fail("%s: %w", strings.Join(path, "."), err)
	}
	return moment
}

func (f *fields) duration(path ...string) time.Duration {
	text := f.prose(path...)
	if text == "" {
		return 0
	}
	duration, err := time.ParseDuration(text)
	if err != nil {
		f.fail("%s: %w", strings.Join(path, "."), err)
	}
	return duration
}

func (f *fields) pulls() []Pull {
	raw, found := field[[]any](f, []string{"spec", "refs", "pulls"})
	if !found || len(raw) == 0 {
		return nil
	}
	if len(raw) > maxPulls {
		f.fail("spec.refs.pulls has %d entries, more than %d", len(raw), maxPulls)
		return nil
	}
	pulls := make([]Pull, len(raw))
	for i, one := range raw {
		object, ok := one.(map[string]any)
		if !ok {
			f.fail("spec.refs.pulls[%d] is %T", i, one)
			return nil
		}
		pull := &fields{object: object}
		pulls[i] = Pull{Number: pull.number("number"), SHA: pull.text("sha")}
		if pull.err != nil {
			f.fail("spec.refs.pulls[%d]: %w", i, pull.err)
		}
	}
	return pulls
}

// intern gives one text for all that are equal.
func intern(text string) string {
	if text == "" {
		return ""
	}
	return unique.Make(text).Value()
}

// bounded cuts a text, and leaves out what steers a terminal.
func bounded(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text[:min(len(text), maxProse)])
	return strings.Clone(text)
}
