// Package command is a pipeline's action Shell: a text of bash that runs as a process
// group of its own, in an environment where nothing is but what the step names.
//
// It never passes on who runs it: credentials, tokens and kubeconfigs reach a step
// when they are asked for by name.
package command
