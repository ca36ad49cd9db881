// Package cli is the command line of Salve: it checks, plans, runs, resumes and
// explains, on a real cluster or on the embedded one.
//
// This package reads flags and the environment, makes the parts and prints the
// answer. It must hold no rule of a recovery: those are in the runbooks and in
// the engine. Standard output carries the answer, standard error everything else.
package cli
