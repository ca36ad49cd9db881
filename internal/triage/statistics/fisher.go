package statistics

import "math"

// FisherGreater is the p value of Fisher's exact test, one-sided: how likely at least as many failures as were seen
// fall on the rows with the value, if the value has nothing to do with it. A table that has only one kind of row, or
// of outcome, shows nothing: p = 1.
func FisherGreater(t Table) (float64, error) {
	logP, err := LogFisherGreater(t)
	if err != nil {
		return 0, err
	}
	return math.Exp(logP), nil
}

// LogFisherGreater is the natural logarithm of [FisherGreater]. Big tables have p values below what a float64 can hold.
// Its error grows with the rows, and is below 1e-9 up to 100,000 of them.
func LogFisherGreater(t Table) (float64, error) {
	if err := t.validate(); err != nil {
		return 0, err
	}
	if !t.informative() {
		return 0, nil
	}
	h := hypergeometric{
		with:    t.FailedWith + t.PassedWith,
		without: t.FailedWithout + t.PassedWithout,
		failed:  t.FailedWith + t.FailedWithout,
	}
	return min(0, h.logFrom(t.FailedWith)), nil
}

// A hypergeometric is the distribution of the failures on rows with the value, where all that failed are drawn blindly.
type hypergeometric struct {
	with, without, failed int
}

// logFrom is log P(X ≥ k). The terms after the first are summed in units of it: where that overflows, P is 1.
func (h hypergeometric) logFrom(k int) float64 {
	first, sum, term := h.logProbability(k), 0.0, 1.0
	for ; ; k++ {
		term *= float64(h.with-k) * float64(h.failed-k) / (float64(k+1) * float64(h.without-h.failed+k+1))
		if sum+term == sum {
			return first + math.Log1p(sum)
		}
		sum += term
	}
}

func (h hypergeometric) logProbability(k int) float64 {
	return logChoose(h.with, k) + logChoose(h.without, h.failed-k) - logChoose(h.with+h.without, h.failed)
}

func logChoose(n, k int) float64 {
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}

func logFactorial(n int) float64 {
	value, _ := math.Lgamma(float64(n) + 1)
	return value
}
