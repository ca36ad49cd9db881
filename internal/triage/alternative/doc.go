// Package alternative asks, of a group of failures, whether the change under test did it. It is asked always, also
// where another cause is plain: unreachable failures, dose, baseline, order, product.
//
// Not to be significant is never a refutation here, and a check without what it needs is open. Only failures that can't
// come from the change, that were there without it, or that came before it are hard to argue with.
package alternative
