// Package configuration renders configurations: it fills in the templates of a file, lays the values of a cloud, an
// environment and a region over those that hold everywhere, and validates the result by a JSON schema.
//
// It never looks values up itself: what templates lead to is given.
package configuration
