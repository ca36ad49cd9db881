package check

import (
	"testing"

	"example/valve"
)

func TestRecord(t *testing.T) {
	v := &valve.Valve{}
	_ = v.Close(1)
	if len(v.Log) != 3 {
		t.Error(v.Log)
	}
}
