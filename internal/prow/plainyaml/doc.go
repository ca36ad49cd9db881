// Package plainyaml reads the part of YAML that most configuration is written in: block mappings and lists, scalars and
// flow collections on one line, literal blocks; in ASCII, without tabs, anchors, aliases, tags and merge keys. It is
// some five times as fast as the library, and is there for checks over thousands of files alone.
//
// It must never answer otherwise than the library (go.yaml.in/yaml/v3): what it takes, the library takes, with the same
// nodes at the same places; a fuzz test holds it to that. Everything else, mistakes included, it leaves to the library.
package plainyaml
