// Package show writes a triage's document for its readers: a terminal, a program, a comment on a pull request, a page.
//
// It must never decide anything: what it writes is what the document says. Texts of the document come from logs that
// anybody may have written; they must never order a terminal about, become markup, mention people, or carry what looks
// like a credential. What is left out for want of room is counted.
package show
