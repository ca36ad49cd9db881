// Command salve-sim is the embedded Azure as a program: it rehearses runbooks on it and serves it. salve
// finds it beside itself or on PATH and runs it for salve rehearse and salve sim, so that nothing of
// it is linked into salve.
package main
