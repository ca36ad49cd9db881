//go:build race

package simulation_test

// defaultSeeds are fewer under the race detector, which makes each run several times as long.
const defaultSeeds = 36
