// Package approval is how somebody says of a run's plan that it may be executed, or not, and how a runner knows that it
// was they who said so: the rule of who may, statements that are signed with a person's own key, and the folder in
// which they lie beside a journal.
//
// It must never believe a statement whose signature it did not verify, never take a name from the statement itself,
// never sign with the key that a record is sealed with, and never decide whether a statement answers a question: that
// is the engine's.
package approval
