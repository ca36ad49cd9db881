package recreatepool_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/internal/azuresim"
)

var (
	seeds = flag.Int("seeds", 1000, "how many seeds of random faults are tried")
	seed  = flag.Int64("seed", 0, "the only seed to try")
)

// seedsThatFound are those whose stories once showed a mistake: 154 an abort of AKS's own operation of half a minute,
// taken for one of days while the log lagged.
var seedsThatFound = []int64{154}

// TestRandomFaults tells stories in which processes die at random moments, calls
// are lost at random, and the next process comes after a random time.
func TestRandomFaults(t *testing.T) {
	first, count := int64(1), int64(*seeds)
	if *seed != 0 {
		first, count = *seed, 1
	}
	if !*whole {
		count = min(count, 8)
	}
	var tried, deaths atomic.Int64
	t.Cleanup(func() { t.Logf("%d seeds tried, %d processes died", tried.Load(), deaths.Load()) })
	for _, seed := range seedsThatFound {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { tellRandom(t, seed) })
	}
	const shares = 4
	for share := range int64(shares) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for seed := first + share; seed < first+count && !t.Failed(); seed += shares {
				deaths.Add(tellRandom(t, seed))
				tried.Add(1)
			}
		})
	}
}

// tellRandom tells the story of a seed and gives the number of processes that
// died in it.
func tellRandom(t *testing.T, seed int64) (deaths int64) {
	chance := rand.New(rand.NewPCG(uint64(seed), 0))
	scenario := load(t, acting[chance.IntN(len(acting))])
	scenario.Seed = seed
	synctest.Test(t, func(t *testing.T) {
		s := tell(t, scenario, t.TempDir())
		defer s.world.Close()
		for range chance.IntN(4) {
			_, err := s.live(s.unlucky(chance))
			if errors.Is(err, errKilled) {
				deaths++
			}
			time.Sleep(time.Duration(chance.IntN(20*60)) * time.Second)
		}
		result := s.finish(t)
		s.verifyRandom(t, result)
		if t.Failed() {
			t.Logf("seed %d, scenario %s: go test ./runbooks/recreatepool -run TestRandomFaults -seed %d\n%s", seed,
				scenario.Name, seed, s.transcript())
		}
	})
	return deaths
}

// unlucky is a process that may die at a random point and loses calls at random.
func (s *story) unlucky(chance *rand.Rand) *process {
	p := newProcess(s.dir)
	p.seen = s.watchman.see
	if chance.IntN(4) > 0 {
		p.at, p.how = 1+chance.IntN(250), cut(chance.IntN(3))
	}
	loss := []float64{0, 0.02, 0.1}[chance.IntN(3)]
	draw := rand.New(rand.NewPCG(chance.Uint64(), 0))
	p.disturb = func(azuresim.Call) azuresim.Verdict {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch lucky := draw.Float64(); {
		case lucky < loss/2:
			return azuresim.DropBefore
		case lucky < loss:
			return azuresim.DropAfter
		}
		return azuresim.Proceed
	}
	return p
}

// finish lets lucky processes follow until nothing is open any more, or the run
// stays parked.
func (s *story) finish(t *testing.T) (result engine.Result) {
	for range 3 {
		var err error
		if result, err = s.process(0, before); err != nil {
			t.Errorf("finishing: %v", err)
		}
		if !result.Open {
			break
		}
		time.Sleep(5 * time.Minute)
	}
	return result
}

// verifyRandom checks what must hold however the story went: bad luck may turn
// any run into one that was undone, but never into one that harms.
func (s *story) verifyRandom(t *testing.T, result engine.Result) {
	t.Helper()
	s.watchman.settled(t, result, s.start, s.remediated())
}
