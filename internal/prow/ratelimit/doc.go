// Package ratelimit tells whether GitHub's rate limit has room for a plan, and waits until it has room for a part of
// it.
//
// It must never say that a plan has room where the calls would be taken that are left to others.
package ratelimit
