package statistics

import (
	"fmt"
	"math"
)

// A Ratio says how many times as often rows with the value fail; Lower and Upper are the ends of its interval.
type Ratio struct {
	Estimate float64
	Interval
}

// RiskRatio is the failure rate with the value over the one without. Half a row is added to each cell, so that it is
// finite where one is empty, and nearer to 1 where there are few rows; its interval is that of its logarithm.
func RiskRatio(t Table) (Ratio, error) {
	if err := t.validate(); err != nil {
		return Ratio{}, err
	}
	if t.With().Of == 0 || t.Without().Of == 0 {
		return Ratio{}, fmt.Errorf("risk ratio of %+v: %w", t, ErrNoRows)
	}
	failedWith, with := float64(t.FailedWith)+0.5, float64(t.With().Of)+1
	failedWithout, without := float64(t.FailedWithout)+0.5, float64(t.Without().Of)+1
	estimate := (failedWith / with) / (failedWithout / without)
	spread := math.Exp(z * math.Sqrt(1/failedWith-1/with+1/failedWithout-1/without))
	return Ratio{Estimate: estimate, Interval: Interval{Lower: estimate / spread, Upper: estimate * spread}}, nil
}

// CommonOdds is an odds ratio that strata have in common.
type CommonOdds struct {
	Ratio    float64
	Log      float64
	Variance float64 // of Log
	// Corrected says that the ratio was 0 or infinite, and is worked out with half a row more in each cell.
	Corrected bool
}

// MantelHaenszel is the odds ratio over the strata, with the variance of Robins, Breslow and Greenland. A stratum where
// nothing can be compared (all rows of one kind, or of one outcome) has no say; if that goes for all of them, the error
// is [ErrNoRows]. https://doi.org/10.2307/2531052
func MantelHaenszel(strata []Table) (CommonOdds, error) {
	var telling []Table
	for _, t := range strata {
		if err := t.validate(); err != nil {
			return CommonOdds{}, err
		}
		if t.informative() {
			telling = append(telling, t)
		}
	}
	if len(telling) == 0 {
		return CommonOdds{}, fmt.Errorf("odds ratio over %d strata: %w", len(strata), ErrNoRows)
	}
	sums := sumStrata(telling, 0)
	corrected := sums.r == 0 || sums.s == 0
	if corrected {
		sums = sumStrata(telling, 0.5)
	}
	return CommonOdds{
		Ratio:     sums.r / sums.s,
		Log:       math.Log(sums.r / sums.s),
		Variance:  sums.pr/(2*sums.r*sums.r) + sums.psqr/(2*sums.r*sums.s) + sums.qs/(2*sums.s*sums.s),
		Corrected: corrected,
	}, nil
}

// strataSums are named as in the paper: R = Σ ad/n, S = Σ bc/n, with P = (a+d)/n and Q = (b+c)/n.
type strataSums struct {
	r, s, pr, psqr, qs float64
}

func sumStrata(strata []Table, correction float64) strataSums {
	var sums strataSums
	for _, t := range strata {
		a, b := float64(t.FailedWith)+correction, float64(t.PassedWith)+correction
		c, d := float64(t.FailedWithout)+correction, float64(t.PassedWithout)+correction
		n := a + b + c + d
		r, s := a*d/n, b*c/n
		p, q := (a+d)/n, (b+c)/n
		sums.r += r
		sums.s += s
		sums.pr += p * r
		sums.psqr += p*s + q*r
		sums.qs += q * s
	}
	return sums
}
