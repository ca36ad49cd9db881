// Package triagetest makes documents of triages for tests: what an outage, a regression, an aborted suite and a run
// without failures look like, and one whose every text wants to do harm; and the evidence that verdicts rest on.
//
// No program may link it.
package triagetest
