// Package drift reads from GitHub and from Prow's own cluster what the rules of internal/prow/check ask about the
// protection of branches, once for a check or again and again for a watch.
//
// It decides nothing: the rules do, over what was read. It must never take more of GitHub's rate limit than is left
// above the client's reserve, never write, and never give a branch that it could not see for one that is not
// protected. What could not be read says why, and when GitHub allows more.
package drift
