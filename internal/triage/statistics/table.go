package statistics

import (
	"errors"
	"fmt"
)

// ErrNoRows is the answer where a rate, or a comparison, would rest on nothing.
var ErrNoRows = errors.New("no rows to compare")

// maxCount keeps sums of counts exact in a float64, and far from an overflow.
const maxCount = 1 << 30

// Table counts the scenarios of a run by whether they have a value of an attribute, and by whether they failed as one
// group did. The letters are those of the textbooks.
type Table struct {
	FailedWith    int // a: failed, with the value
	PassedWith    int // b
	FailedWithout int // c: failed, with any other value
	PassedWithout int // d
}

// With is the share of failures among the rows with the value.
func (t Table) With() Proportion {
	return Proportion{Count: t.FailedWith, Of: t.FailedWith + t.PassedWith}
}

// Without is the share of failures among the other rows.
func (t Table) Without() Proportion {
	return Proportion{Count: t.FailedWithout, Of: t.FailedWithout + t.PassedWithout}
}

// Coverage is the share of the group's failures that have the value.
func (t Table) Coverage() Proportion {
	return Proportion{Count: t.FailedWith, Of: t.FailedWith + t.FailedWithout}
}

func (t Table) validate() error {
	for _, count := range []int{t.FailedWith, t.PassedWith, t.FailedWithout, t.PassedWithout} {
		if count < 0 || count > maxCount {
			return fmt.Errorf("table %+v: counts must be from 0 to %d", t, maxCount)
		}
	}
	return nil
}

// informative says whether the table has both rows with the value and without, and both failures and passes.
func (t Table) informative() bool {
	return t.FailedWith+t.PassedWith > 0 && t.FailedWithout+t.PassedWithout > 0 &&
		t.FailedWith+t.FailedWithout > 0 && t.PassedWith+t.PassedWithout > 0
}

// A Proportion is a count of rows out of some.
type Proportion struct {
	Count, Of int
}

// Rate is the proportion as a number from 0 to 1.
func (p Proportion) Rate() (float64, error) {
	if err := p.validate(); err != nil {
		return 0, err
	}
	return float64(p.Count) / float64(p.Of), nil
}

func (p Proportion) validate() error {
	switch {
	case p.Of == 0 && p.Count == 0:
		return ErrNoRows
	case p.Count < 0 || p.Count > p.Of || p.Of > 2*maxCount:
		return fmt.Errorf("proportion %d of %d: invalid", p.Count, p.Of)
	}
	return nil
}
