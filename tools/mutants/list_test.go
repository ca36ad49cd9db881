package main

import "testing"

// TestNoEntryIsStale: a list that does not match the code keeps every mutant from being tried.
func TestNoEntryIsStale(t *testing.T) {
	t.Chdir("../..")
	if _, err := read("", nil); err != nil {
		t.Error(err)
	}
}
