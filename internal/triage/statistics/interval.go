package statistics

import "math"

// z is the 97.5th percentile of the normal distribution: 2.5 % beyond each end of an interval.
const z = 1.959963984540054

// An Interval covers the true value in 95 of 100 cases.
type Interval struct {
	Lower, Upper float64
}

// Wilson is the score interval of a proportion. Unlike the textbook's it stays within 0 and 1, and has a width where
// none or all failed.
func Wilson(p Proportion) (Interval, error) {
	rate, err := p.Rate()
	if err != nil {
		return Interval{}, err
	}
	n := float64(p.Of)
	centre := (rate + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(rate*(1-rate)/n+z*z/(4*n*n))
	interval := Interval{Lower: max(0, centre-half), Upper: min(1, centre+half)}
	if p.Count == 0 {
		interval.Lower = 0 // not the last digits of a rounding
	}
	if p.Count == p.Of {
		interval.Upper = 1
	}
	return interval, nil
}

// A Difference is one rate less another.
type Difference struct {
	Estimate float64
	Interval
}

// Newcombe is the difference p − q with the interval of Newcombe's method 10, which joins two of [Wilson]'s.
// https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I
func Newcombe(p, q Proportion) (Difference, error) {
	ofP, err := Wilson(p)
	if err != nil {
		return Difference{}, err
	}
	ofQ, err := Wilson(q)
	if err != nil {
		return Difference{}, err
	}
	rateP, rateQ := float64(p.Count)/float64(p.Of), float64(q.Count)/float64(q.Of)
	estimate := rateP - rateQ
	return Difference{Estimate: estimate, Interval: Interval{
		Lower: max(-1, estimate-math.Hypot(rateP-ofP.Lower, ofQ.Upper-rateQ)),
		Upper: min(1, estimate+math.Hypot(ofP.Upper-rateP, rateQ-ofQ.Lower)),
	}}, nil
}
