// Package comment posts a report as a comment of a pull request: one, which later reports replace.
//
// A comment is taken for ours by its author and by the marker in its first line. Anybody may write the marker, so it
// must never change a comment of another account, even where its token could, nor post where it can't tell which
// account it is. It must never repeat a change whose answer was lost without having looked, follow a redirect, send its
// token to another host or in the clear, or show it.
//
// It is called for each report that somebody asked to be posted, and by nothing else: a comment is no change to what
// runbooks act on, so there is no permit for it.
package comment
