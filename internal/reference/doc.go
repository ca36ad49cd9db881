// Package reference writes docs/reference from what the program is: a page for each command from the tree of commands,
// and a JSON schema for each document from the Go type that is printed.
//
// Tests use it, and nothing that is built into a program. What it must never do: describe what the program does not
// have, or change what it describes.
package reference
