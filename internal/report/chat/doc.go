// Package chat reads chat exports that were pasted into Markdown or plain text, or stand in the appendix of a
// post-mortem, into messages: Slack (copied, and its JSON export), Teams, IRC, Matrix and what looks like them.
//
// Names, times and text are as written. The date and the time zone are given only where the document tells them:
// a date in the header, a dividing line, a heading, the one date that the document is about; a day that follows
// because the clock went past midnight; a zone in prose. Everything else becomes a [Question] for a person.
//
// It must never guess an encoding, a date, a zone or AM and PM, never take a line of a hand-written timeline, of a log
// or of a code block for a message, never read a clock, a file or the network, and never let control characters of its
// input through.
package chat
