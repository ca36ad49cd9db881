// Package catalogue is what a team knows about its failures: YAML files with signatures of known failures, patterns by
// which names and log lines tell the attributes of a scenario, and kinds of file with who wrote them.
//
// All literals of a catalogue are looked for in one pass over a text, and expressions are tried on lines with one of
// their literals only. Memory is bounded, whatever a log holds. docs/triage-catalogue.md has the language.
//
// It must never take an attribute that is not known, or that several values are told of, for any value: a condition on
// it is then neither true nor false, and the signature does not decide. It reads no results by itself, works out no
// verdict, and writes nothing.
package catalogue
