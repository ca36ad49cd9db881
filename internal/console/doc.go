// Package console lets a user, or a log, watch a run while it is at work.
//
// Live draws the steps on a terminal, Log writes JSON lines. Both are fed by
// engine.Engine.Watch and show what they are told. Neither ever decides, waits
// for the run, reads the keyboard, handles a signal or writes a credential, and
// neither is the record: that is the journal.
package console
