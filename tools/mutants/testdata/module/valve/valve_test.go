package valve

import (
	"errors"
	"slices"
	"testing"
)

func TestOpen(t *testing.T) {
	v := &Valve{}
	if err := v.Open(1); err != nil || !slices.Equal(v.Log, []string{"opening", "open", "done"}) {
		t.Error(err, v.Log)
	}
	for _, pressure := range []int{10, 20} {
		if err := v.Open(pressure); err == nil {
			t.Error(pressure)
		}
	}
	if err := (&Valve{Locked: true}).Open(1); err == nil {
		t.Error("opened though locked")
	}
	failing := &Valve{Fail: errors.New("no")}
	if err := failing.Open(1); err == nil || len(failing.Log) != 1 {
		t.Error("opened though failing")
	}
}

func TestCloseRuns(t *testing.T) {
	_ = (&Valve{}).Close(1)
	_ = (&Valve{}).Close(11)
}

func TestSpin(t *testing.T) {
	if Spin() != 3 {
		t.Error("not three rounds")
	}
}
