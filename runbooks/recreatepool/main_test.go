package recreatepool_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain gives the collector more room: a sweep makes tens of thousands of
// short-lived worlds.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
