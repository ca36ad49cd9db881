// Package unblockpulls is the runbook unblock-pull-requests: for open pull requests that wait for a required context
// which nothing will report any more, it starts the job once by a comment, or has crier report a result again that
// GitHub was never told.
//
// It never sets a status, and never asks for one context on one head twice, in whatever run. It never comments as
// Prow's own bot, on a draft, on a change that nobody has trusted, on a head that moved, or on a branch whose
// protection is wrong, and never while pods of Prow are made in a wrong namespace.
package unblockpulls
