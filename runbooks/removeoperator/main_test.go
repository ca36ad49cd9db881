package removeoperator_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets many tests run side by side: they wait for the cluster's controllers
// most of the time.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
