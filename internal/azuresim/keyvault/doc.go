// Package keyvault is the embedded Azure's key vaults: as much of the data plane's REST as it takes to have a
// certificate issued, to read it, and to keep a secret. Certificates are real ones, signed by themselves.
//
// It must never reach a network, keep anything beyond its own memory, or answer for what it does not know: that is 501.
//
// The shapes are those of https://learn.microsoft.com/rest/api/keyvault/ (certificates, secrets). Assumed is that a
// certificate takes five seconds, whoever issues it.
package keyvault
