// Generate writes a run whose truth is known into a folder, and prints the arguments with which salve triage reads it:
// for demonstrations, and to try Salve with. It is in no program that is installed.
package main
