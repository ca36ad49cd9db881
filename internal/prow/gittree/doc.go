// Package gittree reads folders of a git revision as a file system, by the git program.
//
// It never touches the working tree, the index or a branch, and never fetches. What it
// can't give (a symbolic link, a submodule) is an error and not a missing file.
package gittree
