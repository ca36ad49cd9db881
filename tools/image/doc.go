// Command image writes the container image of Salve from the binaries of a release, as an OCI image layout: from
// scratch, for each architecture, without Docker and without a registry.
//
// The image holds the program, the roots of public certificate authorities and the name of a user that is not root. It
// must never hold a shell, a package manager or a credential, and the same binaries make the same bytes.
package main
