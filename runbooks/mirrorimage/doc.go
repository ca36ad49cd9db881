// Package mirrorimage is the runbook mirror-image: it copies a container image from one registry to another, by digest,
// with its signatures and all else that is attached to it. Pipelines run it for their ImageMirror steps.
//
// It never copies what a tag names, never moves a tag, deletes nothing, and never calls an image mirrored that the
// target does not show under the same digest.
package mirrorimage
