// Package github is Salve's client of the GitHub API: what the checks and runbooks of a Prow instance ask of
// GitHub, as small values of its own, over github.com/google/go-github and its REST half alone.
//
// It must never take a refusal for an absence: GitHub answers 404 for what is not there and for what a token may not
// see. A branch is unprotected only by the resource's own word, "Branch not protected", about a branch that was read
// before. Every other 404 without such a word is ErrHidden, of class Denied.
//
// It must never give a shorter list for a page that failed, repeat a change, follow a redirect, send its token to
// another host, or show it. Each request goes through internal/permit: nothing is exempt, so a change without a live
// permit is refused before it leaves, and so is GraphQL, which this package does not speak (its queries are POSTs, and
// what tells them from mutations is the body alone).
//
// Texts that come from GitHub, such as titles, comments and names of contexts, are data, given as they are: the console
// escapes them. Those in errors are bounded and have no control characters.
//
// GitHub has no precondition for changes: a write of a branch's protection can't be bound to the ETag that was read.
// Whoever writes reads right before, writes the whole object, and reads again after.
package github
