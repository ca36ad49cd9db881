// Package githubsim is a GitHub for tests and rehearsals: the REST API that Prow and Salve use, with its state, its
// rights, its limits and its lapses.
//
// Clients that were not written for it must not notice: google/go-github and Prow's own programs. Where GitHub's own
// behaviour is not documented, the source of what is done here stands at the line.
//
// It must never be linked into salve, and it shares no type with Salve's client: a mistake in the one must not hide a
// mistake in the other. GraphQL is not served.
package githubsim
