//go:build linux

package main

import (
	"context"
	"errors"
	"syscall"

	"salve/internal/hotfix/event"
	"salve/internal/hotfix/fetch"
	"salve/internal/hotfix/protect"
	"salve/internal/hotfix/slot"
)

// The outcomes of commands, beside those of package fetch.
const (
	outcomeNothingToDo    = "nothing-to-do"
	outcomeStaged         = "staged"
	outcomeAlreadyStaged  = "already-staged"
	outcomeApplied        = "applied"
	outcomeAlreadyApplied = "already-applied"
	outcomeRolledBack     = "rolled-back"
	outcomePostponed      = "postponed" // it has failed before, and is not tried at this boot
	outcomeDecided        = "decided"
	outcomeChosen         = "chosen"
	outcomeRan            = "ran"
	outcomeFellBack       = "fell-back"
	outcomeNotAsked       = "not-asked" // the live service, in signed mode

	outcomeMarkedBad  = "marked-bad"
	outcomeUnfit      = "unfit"
	outcomeBadPayload = "bad-payload"
	outcomeReadOnly   = "read-only"
	outcomeDiskFull   = "disk-full"
	outcomeFailed     = "failed"
	outcomePanic      = "panic"
)

// outcomeOf says what an error means for a fetch.
func outcomeOf(err error) string {
	var unfit *slot.UnfitError
	var brought *fetch.Error
	var wrong *badPayload
	var kept *protect.Error
	switch {
	case errors.As(err, &wrong), errors.As(err, &kept):
		return outcomeBadPayload
	case errors.Is(err, syscall.EROFS):
		return outcomeReadOnly
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return outcomeDiskFull
	case errors.Is(err, slot.ErrMarkedBad):
		return outcomeMarkedBad
	case errors.Is(err, slot.ErrOlder):
		return string(slot.Older)
	case errors.Is(err, slot.ErrBusy):
		return string(fetch.Busy)
	case errors.As(err, &unfit):
		return outcomeUnfit
	case errors.As(err, &brought):
		return string(brought.Outcome)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return string(fetch.Timeout)
	}
	return outcomeFailed
}

// levelOf says who should look at an outcome that an error has led to.
func levelOf(outcome string) event.Level {
	if outcome == outcomeFailed {
		return event.Error
	}
	return event.Warning
}

// worse gives the level that matters more.
func worse(a, b event.Level) event.Level {
	for _, level := range []event.Level{event.Error, event.Warning} {
		if a == level || b == level {
			return level
		}
	}
	return event.Information
}
