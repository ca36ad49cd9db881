// Package breakglass prepares the way out when a Prow can't deploy itself: which manifests of which revision to apply,
// in which order, with which commands; what that reverts besides; and who may merge by hand.
//
// It must never execute anything, read no cluster, and let nothing of a manifest into a command but the path of its
// file, quoted for a shell. A path that can't be quoted has no command and is named. What could not be read is said:
// a plan of a part is never shown as the whole.
package breakglass
