// Package salve is the root of the module: it holds no code, only the tests that
// keep the plan of the house and the documentation true.
package salve
