// Package writefiles reads documents of cloud-init's module write_files, and nothing
// else of YAML: one list of mappings from known names to texts. Block and flow
// collections, all kinds of scalars, comments and the tags !!str and !!binary are read
// as the library reads them (go.yaml.in/yaml/v3); a test holds it to that.
//
// Documents come from outside and are read as root while a node waits. This package
// must never answer otherwise than the library, never take memory but in proportion to
// the document, and never go on behind the first thing that it does not know: what is
// not known can't be left out silently. It refuses what two readers of YAML could take
// for two things: anchors, aliases, merge keys, tabs as indentation, carriage returns,
// and words without quotes that are a number, a date or a truth value to some.
package writefiles
