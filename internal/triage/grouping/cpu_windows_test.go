package grouping_test

import (
	"testing"
	"time"
)

// cpu is the time of the clock: how much of it was ours is not measured on Windows.
func cpu(testing.TB) time.Duration { return time.Since(started) }

var started = time.Now()
