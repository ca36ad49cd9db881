// Package helm is what Salve asks of Helm: to read a release's history, to render a chart, and to install or upgrade a
// release, by Helm's own library.
//
// It never makes a request outside of the caller's context: without a permit in it nothing is changed, and when it ends
// nothing goes on behind the caller's back. It says nothing to any log, and never takes values over from an earlier
// release.
package helm
