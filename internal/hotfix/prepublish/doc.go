// Package prepublish looks at a pointer before it is published: what is wrong with
// it, which versions of a fleet it would move and where to, and whether all that it
// names is there to be had.
//
// It decides by the very code that nodes decide by. It must never change anything,
// and never call something absent that it merely could not see.
package prepublish
