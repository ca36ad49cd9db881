// Package console lets a user, or a log, watch a run while it is at work.
//
// Live draws the steps on a terminal, Lines tells them line by line, Log writes JSON
// lines. All are fed by engine.Engine.Watch and show what they are told. None ever
// decides, waits for the run, reads the keyboard, handles a signal, writes a
// credential or lets a text of others command a terminal or the host of a pipeline,
// and none is the record: that is the journal.
package console
