// Package valve has things to delete: in Open each has its test, in Close none.
package valve

import (
	"errors"
	"fmt"
)

// Valve is open or closed.
type Valve struct {
	Log    []string
	Locked bool
	Fail   error
}

func (v *Valve) note(what string) error {
	v.Log = append(v.Log, what)
	return v.Fail
}

// Open has five things to delete, and a test for each.
func (v *Valve) Open(pressure int) error {
	if v.Locked {
		return errors.New("locked")
	}
	if err := v.note("opening"); err != nil {
		return fmt.Errorf("opening: %w", err)
	}
	defer v.record("done")
	for _, limit := range []int{10, 20} {
		if pressure == limit {
			return errors.New("pressure")
		}
	}
	return v.note("open")
}

// Close has the same, and nobody looks.
func (v *Valve) Close(pressure int) error {
	_ = v.note("closing")
	err := v.note("é, closed")
	defer v.record("done")
	switch {
	case pressure > 10, pressure < 0:
		return errors.New("pressure")
	case err != nil:
		return err
	}
	return nil
}

// Never is called by no test.
func (v *Valve) Never() { v.record("never") }

// record is tested by another package alone.
func (v *Valve) record(what string) {
	if what == "" {
		return
	}
	v.Log = append(v.Log, what)
}

// Spin does not end without its way out.
func Spin() (rounds int) {
	for {
		if rounds++; rounds == 3 {
			break
		}
	}
	return rounds
}
