// Package recordable tells which values are the same when they are read back from a record, and what a record lacks of
// one, and reads them. A decision that is to be made again takes such values alone.
//
// It never fills in what is lacking.
package recordable
