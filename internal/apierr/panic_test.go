package apierr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"salve/internal/apierr"
)

func TestRecovered(t *testing.T) {
	failed := errors.New("failed")
	for _, want := range []error{nil, failed} {
		if err := apierr.Recovered(func() error { return want }); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	err := fmt.Errorf("asking: %w", apierr.Recovered(func() error { return indexes(nil) }))
	var panicked *apierr.PanicError
	if !errors.As(err, &panicked) || !strings.Contains(panicked.Stack, "apierr_test.indexes") {
		t.Fatalf("no stack of the code that panicked: %+v", err)
	}
	if class := apierr.ClassOf(err); class != apierr.Unclassified || !apierr.MayHaveHappened(err) {
		t.Errorf("class %s", class)
	}
	if want := "asking: panic: runtime error: index out of range [0] with length 0"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func indexes(all []error) error { return all[0] }
