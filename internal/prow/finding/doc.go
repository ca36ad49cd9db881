// Package finding is what a rule about a Prow instance found: which rule, how bad,
// where, about what, the evidence, and what mends it. Checks of files make findings,
// and so does who watches a cluster; a finding is told from others by its Identity,
// not by its words, so that one that lasts is said once.
//
// Severities, from good to bad: OK, INFO, UNKNOWN, WARN, ALERT. UNKNOWN means that an
// input was missing, stale or unreadable; it never counts as OK. There is no default
// severity: a finding without one is refused by all that writes findings.
//
// It reads nothing, decides nothing, and holds no secret.
package finding
