package trust_test

import (
	"fmt"
	"testing"

	"salve/internal/hotfix/trust"
)

// BenchmarkTheWorst is what somebody who writes the signed pointer's file can make a boot calculate: the largest
// pointer, with as many signatures as are tried, none of which is one.
func BenchmarkTheWorst(b *testing.B) {
	names := make([]string, 16)
	for i := range names {
		names[i] = fmt.Sprint("key-", i)
	}
	root := rootOf(1)
	root.Pointer = role(1, names...)
	trusted, err := trust.ParseTrusted(encoded(b, signedRoot(b, root, "alice", "bob")))
	check(b, err)
	pointer := trust.Envelope{PayloadType: trust.PointerType, Payload: make([]byte, 90<<10)}
	for _, name := range names {
		pointer.Signatures = append(pointer.Signatures, trust.Signature{KeyID: key(name).ID, Sig: make([]byte, 64)})
	}
	raw := encoded(b, trust.Bundle{Pointer: pointer})
	for b.Loop() {
		bundle, err := trust.ParseBundle(raw)
		check(b, err)
		chain, err := trusted.Follow(trust.Memory{}, bundle.Roots)
		check(b, err)
		if _, err := chain.Accept(bundle.Pointer, now); err == nil {
			b.Fatal("it is followed")
		}
	}
}

// BenchmarkFollow is what a boot calculates for a pointer that is signed by one key.
func BenchmarkFollow(b *testing.B) {
	w := newWorld(b)
	root, bundle := encoded(b, w.configured), encoded(b, w.bundle)
	for b.Loop() {
		trusted, err := trust.ParseTrusted(root)
		check(b, err)
		read, err := trust.ParseBundle(bundle)
		check(b, err)
		chain, err := trusted.Follow(trust.Memory{}, read.Roots)
		check(b, err)
		_, err = chain.Accept(read.Pointer, now)
		check(b, err)
	}
}
