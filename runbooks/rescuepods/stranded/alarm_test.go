package stranded

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktest "k8s.io/utils/clock/testing"

	"salve/internal/apierr"
)

// TestTransientErrorsEndNoWatch: it is said once, and pods that wait are evaluated
// again. What is refused for good ends it.
func TestTransientErrorsEndNoWatch(t *testing.T) {
	clk := clocktest.NewFakeClock(time.Now())
	said := 0
	w := &watcher{search: &Search{}, say: func(string) { said++ }, timer: clk.NewTimer(time.Hour)}
	w.forget()
	w.current = true
	w.waiting[types.UID("1")] = Pod{Name: "waits"}
	for _, unseen := range []error{apierr.New(apierr.Transient, "503"), apierr.New(apierr.Throttled, "429")} {
		if w.armed = false; w.evaluateAgain(unseen) != nil || !w.armed {
			t.Errorf("after %v the pod is not evaluated again", unseen)
		}
	}
	if said != 1 {
		t.Errorf("said %d times", said)
	}
	denied := apierr.New(apierr.Denied, "403")
	if err := w.evaluateAgain(denied); !errors.Is(err, denied) {
		t.Errorf("a refusal for good ended in %v", err)
	}
}
