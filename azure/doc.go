// Package azure is ARM reached through the official SDK, narrowed to what
// runbooks ask of it.
//
// Reads are repeated for a while when the service stumbles. Changes are sent
// once, take a permit, carry If-Match or If-None-Match, and are never repeated
// here: whether to ask again is the engine's decision. Every error that leaves
// the package carries a fault.Class.
//
// The package holds no state between calls and judges nothing.
package azure
