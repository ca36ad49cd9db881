package kubetest

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// WatchHeap samples the heap of this process until it is asked for the growth of
// its peak, in bytes. The control plane runs in processes of its own.
func WatchHeap() (peak func() float64) {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := read()
	highest, stop, done := before, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for ticker := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-ticker.C:
				highest = max(highest, read())
			case <-stop:
				ticker.Stop()
				return
			}
		}
	}()
	return func() float64 {
		close(stop)
		<-done
		return float64(highest - before)
	}
}
