// Package config is a Prow instance's configuration as Prow itself would read it:
// config.yaml, the folder of jobs and the supplemental shards, from any fs.FS, be
// it a folder or the tree of a git revision. It says which contexts a branch
// requires, which protection each branch is meant to have and why, and what Tide
// waits for.
//
// Everything that is read knows its place (file, line, column), so that a rule can
// point at it. What Prow would refuse to load is a diagnostic of severity error;
// what it would silently drop (a key that stands twice, a second document, an
// unknown field) is one too.
//
// Left out on purpose: .prow.yaml files in the tested repositories. They are read
// at the head of each pull request, never become required on GitHub, and aren't
// part of the instance's configuration; InRepoEnabled says where they may exist.
// Sections that say nothing about jobs, protection or merging (deck, sinker,
// gerrit, …) are known by name and not looked into.
//
// It never asks a network, a cluster or a clock, never writes, and never turns a
// file that couldn't be read into a smaller configuration: Loaded.Config refuses
// then, and who calls Loaded.Partial has asked for it by name.
package config
