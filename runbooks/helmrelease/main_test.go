package helmrelease_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets many tests run side by side: they wait most of the time.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
