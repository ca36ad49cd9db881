// Package textencoding brings a text file that a user names into UTF-8: Windows programs write UTF-16. It must never
// guess an encoding.
package textencoding
