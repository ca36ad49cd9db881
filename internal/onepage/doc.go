// Package onepage is what the HTML pages of Salve have in common: how they look, and a policy that forbids a browser
// to load or run anything. A page is one file that needs no network, no script and no font, on a screen or on paper.
//
// It must never know what a page is about.
package onepage
