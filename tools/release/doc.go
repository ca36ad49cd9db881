// Command release makes what GoReleaser doesn't: the licenses of what a program is linked from, the container image of
// Salve from the binaries of a release, as an OCI image layout, and the package of its Helm chart.
//
// The image is made from scratch, for each architecture, without Docker and without a registry. It holds the program,
// the roots of public certificate authorities, licenses and the name of a user that is not root. It must never hold a shell, a
// package manager or a credential. The same commit makes the same bytes.
package main
