//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"salve/internal/clock"
	"salve/internal/hotfix"
	"salve/internal/hotfix/event"
	"salve/internal/hotfix/launch"
	"salve/internal/hotfix/slot"
)

// The reasons of launch for the baked program, on top of those of package slot.
const (
	reasonUnprepared slot.Reason = "unprepared"  // the prepare process did not come to its end
	reasonNotCounted slot.Reason = "not-counted" // a start can't be written down, so it is not made
)

// choice is what the prepare process says: one line of words.
type choice struct {
	reason  string
	decided hotfix.Reason
	target  string // of the decision, if it names one
	digest  string // of the staged program, if it was chosen
}

// The first word of the line, and what stands for a word that is empty.
const (
	choiceFormat = "salve-node-choice-2"
	noWord       = "-"
)

func (c choice) String() string {
	words := []string{choiceFormat, c.reason, string(c.decided), c.target, c.digest}
	for i, word := range words {
		if word == "" {
			words[i] = noWord
		}
	}
	return strings.Join(words, " ")
}

// parseChoice takes nothing but what String writes: in any doubt the baked program runs.
func parseChoice(line string) (choice, error) {
	words := strings.Split(line, " ")
	if len(words) != 5 || words[0] != choiceFormat {
		return choice{}, errors.New("the prepare process did not say its choice")
	}
	for i, word := range words {
		if word == noWord {
			words[i] = ""
		}
	}
	c := choice{reason: words[1], decided: hotfix.Reason(words[2]), target: words[3], digest: words[4]}
	version, err := hotfix.ParseVersion(c.target)
	switch {
	case c.String() != line:
		return choice{}, errors.New("the prepare process did not say its choice in its form")
	case !slices.Contains(choosable(), slot.Reason(c.reason)):
		return choice{}, fmt.Errorf("the prepare process gave the reason %.40q, which is not known", c.reason)
	case c.decided != "" && !slices.Contains(hotfix.Reasons(), c.decided):
		return choice{}, fmt.Errorf("the prepare process decided by %.40q, which is not known", string(c.decided))
	case c.target != "" && (err != nil || version.String() != c.target):
		return choice{}, fmt.Errorf("the prepare process named %.40q, which is no version", c.target)
	case (c.reason == string(slot.Staged)) != slot.ValidDigest(c.digest):
		return choice{}, errors.New("the prepare process chose a program without its digest")
	}
	return c, nil
}

// choosable are the reasons that the prepare process may give.
func choosable() []slot.Reason {
	return []slot.Reason{slot.NoHotfix, slot.NotStaged, slot.Unreadable, slot.Older, slot.OtherTarget, slot.OtherArtifact,
		slot.NotExecutable, slot.NotAProgram, slot.DigestDiffers, slot.MarkedBad, slot.TrialsUsed, slot.Staged}
}

func levelOfChoice(c choice) event.Level {
	if c.reason == string(slot.NoHotfix) || c.reason == string(slot.Staged) {
		return levelOfReason(c.decided)
	}
	return event.Warning
}

// reasonOfOpening and reasonOfCounting say why the staged program is not started.
func reasonOfOpening(err error) slot.Reason {
	switch {
	case errors.Is(err, slot.ErrOtherProgram):
		return slot.DigestDiffers
	case errors.Is(err, fs.ErrNotExist):
		return slot.NotStaged
	}
	return slot.Unreadable
}

func reasonOfCounting(err error) slot.Reason {
	if errors.Is(err, slot.ErrTrialsUsed) {
		return slot.TrialsUsed
	}
	return reasonNotCounted
}

// prepared lets a process of its own do all that comes before the program, within the
// budget, and gives its choice.
func (b *boot) prepared() (choice, error) {
	defer func() { b.event.Measure("prepare", b.clock.Since(b.began)) }()
	line, err := b.inProcess(b.left(), "prepare")
	var asked *launch.AskedError
	if err != nil && !errors.As(err, &asked) && b.tree().Unfinished() {
		// It was at the scripts: half of them changed is worse than none.
		_, again := b.inProcess(recoverBudget, "prepare", "--recover")
		err = errors.Join(err, again)
	}
	if err != nil {
		return choice{}, err
	}
	return parseChoice(line)
}

// recoverBudget is for renaming back at most 500 files.
const recoverBudget = 10 * time.Second

// inProcess runs another command of this very program, with the same flags.
func (b *boot) inProcess(budget time.Duration, command ...string) (line string, err error) {
	own, _ := split(b.arguments[1:])
	words := slices.Concat([]string{"salve-node"}, command, own)
	return launch.Preparation{Path: "/proc/self/exe", Arguments: words, Budget: budget, Clock: b.clock}.
		Run(context.Background(), b.signals)
}

// runPrepare does all that comes before the program, and prints the choice.
func (n *node) runPrepare() int {
	e := n.event("prepare")
	if err := limit(n.settings.budget); err != nil {
		n.warn(fmt.Sprintf("prepare: running without a limit: %v", err))
	}
	if n.settings.onlyRecover {
		n.safely("prepare", func() { n.recoverScripts(context.Background(), &e) })
		fmt.Fprintln(n.stdout, choice{reason: string(slot.NoHotfix)})
		return exitDone
	}
	var chosen choice
	n.tidied = true // by the event of it all
	if !n.safely("prepare", func() { chosen = n.prepare(context.Background(), &e) }) {
		return exitFailed
	}
	e.Outcome = outcomeChosen
	n.tidied = false
	n.record(e)
	n.flushed() // with the line the parent has what it wants, and ends this process
	fmt.Fprintln(n.stdout, chosen)
	return exitDone
}

// prepare: nothing of it may keep the program from running, and each part is safe from
// the others' mistakes. A part of the budget is kept back for choosing: what used up the
// rest shall not put a staged program out of use.
func (n *node) prepare(ctx context.Context, e *event.Event) choice {
	const keptBack = 8 // one part of so many
	limited, cancel := clock.WithTimeout(ctx, n.clock, n.settings.budget-n.settings.budget/keptBack)
	defer cancel()
	n.safely("prepare", func() { n.recoverScripts(limited, e) })
	if n.settings.check {
		n.safely("check", func() { n.check(limited) })
	}
	pointer, decision := n.decide(ctx)
	if decision.Installs() {
		n.safely("fetch", func() {
			fetched := n.event("fetch")
			n.fetch(limited, pointer, decision, &fetched)
			n.record(fetched)
		})
	} else {
		n.safely("fetch", n.clearLeftovers)
	}
	found := n.choose(decision, n.slot().Find(decision), e)
	return choice{reason: string(found.Reason), decided: decision.Reason, target: decision.Wanted(),
		digest: found.Manifest.SHA256}
}
