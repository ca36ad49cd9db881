// Package launch runs a program in this one's stead: it takes its place, or stays
// as its parent, passes signals to it and gives back how it ended.
//
// It decides whether an ending was the program's own fault. It never ends a
// program by itself: how long one may take is its supervisor's affair.
package launch
