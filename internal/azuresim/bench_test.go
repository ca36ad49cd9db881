package azuresim_test

import (
	"testing"

	"salve/internal/azuresim"
)

func BenchmarkStartingAWorld(b *testing.B) {
	scenario, err := azuresim.Load("wedged")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		world, err := azuresim.New(scenario, azuresim.Options{})
		if err != nil {
			b.Fatal(err)
		}
		world.Close()
	}
}
