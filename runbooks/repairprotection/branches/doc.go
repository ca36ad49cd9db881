// Package branches reads the protection of branches from GitHub and says what it is to be by a Prow configuration, what
// would become required that nothing reports, and which pull requests wait in vain.
//
// It only reads. It must never take a list that it could not read whole for all there is, nor a branch that it could
// not
// see for one that is not protected.
package branches
