//go:build !linux

package process_test

func runAsTheFirst(string) {}
