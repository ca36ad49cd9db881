// Package picture works out the picture of an incident: where each mark stands, and which words go with it. It is
// geometry as data; what writes it down as SVG is another package.
//
// All of it is pure. It never asks the world or the clock, never draws more marks than can be told apart (what is
// put together or left out is counted and said), never leaves the meaning of a mark to its colour, and never draws
// outside of its own bounds, whatever times it is given.
package picture
