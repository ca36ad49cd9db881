// Package endtoend tests Salve as its users run it: the salve program, a served
// Azure and a real control plane, each a process of its own, on one machine.
//
// It holds tests only, and nothing may import it.
package endtoend
