// Package runbooktest tests runbooks: one step under a permit, a fake run for the
// functions of guards and steps, a sweep that kills a run at every write of its
// journal and at every call to the world, and resumes it, one that takes each field
// out of what guards decide by, and the replay of all that a journal holds.
//
// It must never mint a permit: Apply and CrashAnywhere ask the engine for one, as a
// real run does. It is for tests alone, and imports testing.
package runbooktest
