// Package apiserver is an API server for Kubernetes' REST, in process: GET, LIST, WATCH, POST, PUT, merge PATCH and
// DELETE of the kinds in kinds.go, with selectors, pages, preconditions and metav1.Status errors, in JSON and in
// protobuf. It is generic over kinds: what a kind does besides being stored is its owner's, by Handle.
//
// Clients of client-go can't tell it from a real one by what is in this package; discovery answers in the old form, for
// which they fall back. Not here: admission, server-side apply and strategic merge patches (415), subresources but
// those that are handled, dry runs (400), finalizers, generations, managed fields. A watch has no bookmarks and doesn't
// end by itself.
//
// What it must never do: open a socket, start a goroutine, use a clock, or lock. Its owner's lock guards it, but for
// streams of watches, which clients read when they like.
package apiserver
