// Package check holds a Prow instance's files, and what its clusters and GitHub say, against
// rules that tell the failures of 5 February 2019 before they happen, or while they do.
//
// That day: https://github.com/kubernetes/test-infra/blob/master/docs/post-mortems/2019-02-05.md
//
// Each rule is an entry of Rules: what it looks for, why, what it needs, and a pure
// function over what was read. What a rule needs and did not get makes it UNKNOWN,
// never OK. A rule is quiet where nothing is wrong; how a severity was chosen stands
// at the rule.
//
// It reads no file, asks no cluster, no GitHub and no clock: Facts has all of it.
package check
