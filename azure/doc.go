// Package azure is ARM reached through the official SDK, narrowed to what
// runbooks ask of it.
//
// Reads are repeated for a while when the service stumbles. Changes are sent
// once, carry If-Match or If-None-Match, and are never repeated here: whether to
// ask again is the engine's decision. Every error that leaves the package carries
// an apierr.Class.
//
// It must never send the token to anybody but ARM, send a change without a permit,
// take a 404 for absence that is not the resource's own under a parent that was
// seen, or give an answer about another resource than was asked for.
//
// The package holds no state between calls and decides nothing.
package azure
