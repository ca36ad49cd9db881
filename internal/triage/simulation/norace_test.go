//go:build !race

package simulation_test

// defaultSeeds are the runs of TestVerdicts.
const defaultSeeds = 200
