//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A contender is timed beside the others of its round, so that a busy moment of the machine is all of theirs.
type contender struct {
	name      string
	arguments []string
	// environment is added to that of the test.
	environment []string
	fastest     time.Duration
}

func (c *contender) command() *exec.Cmd {
	command := exec.Command(c.arguments[0], c.arguments[1:]...)
	command.Env = append(os.Environ(), c.environment...)
	return command
}

func (c *contender) time(b *testing.B) {
	command := c.command()
	began := time.Now()
	check(b, command.Run())
	if took := time.Since(began); c.fastest == 0 || took < c.fastest {
		c.fastest = took
	}
}

// BenchmarkProcess runs whole processes beside their measures: /bin/true, and the smallest static Go program.
func BenchmarkProcess(b *testing.B) {
	rows := contenders(b)
	for b.Loop() {
		for _, row := range rows {
			row.time(b)
		}
	}
	b.ReportMetric(0, "ns/op") // of a round, which says nothing
	took := map[string]time.Duration{}
	for _, row := range rows {
		took[row.name] = row.fastest
		b.ReportMetric(float64(row.fastest.Microseconds())/1000, row.name+"-ms")
		b.ReportMetric(float64(peak(b, row.command()))/1024, row.name+"-MiB")
	}
	atMost(b, "decide, by the smallest Go program,", float64(took["decide"])/float64(took["minimal-go"]), maxDecide)
	for _, name := range []string{"launch", "unit"} {
		atMost(b, name+" adds, in ms,", float64((took[name]-took["true"]).Microseconds())/1000, maxAdded)
	}
}

// What is asked for: how many times the smallest Go program decide takes, and the milliseconds that a boot without a
// pointer takes over the program itself, the shell of the unit included.
const maxDecide, maxAdded = 3, 5

func atMost(b *testing.B, what string, got, limit float64) {
	b.Helper()
	b.Logf("%s %.2f of at most %g", what, got, limit)
	if got > limit {
		b.Errorf("%s %.2f is above %g", what, got, limit)
	}
}

func contenders(b *testing.B) []*contender {
	folder := b.TempDir()
	node, none := releasedNode(b), filepath.Join(folder, "none")
	pointer := filepath.Join(folder, "pointer.json")
	check(b, os.WriteFile(pointer, []byte(`{"hotfixes": {"202604.01": "202604.01.2"}}`), 0o644))
	stage(b, filepath.Join(folder, "staged"))
	metrics := filepath.Join(folder, "node.prom")
	run := func(verb, pointer string, more ...string) []string {
		return append([]string{node, verb, "--state", filepath.Join(folder, "state"), "--baked", "/bin/true", "--staged",
			filepath.Join(folder, "staged"), "--current", "202604.01.0", "--pointer", pointer}, more...)
	}
	rows := []*contender{
		{name: "true", arguments: []string{"/bin/true"}},
		{name: "minimal-go", arguments: []string{minimal(b)}},
		{name: "decide", arguments: run("decide", pointer)},
		{name: "select", arguments: run("select", none)},
		{name: "select-staged", arguments: run("select", pointer)},
		{name: "launch", arguments: run("launch", none, "--", "x")},
		{name: "launch-metrics", arguments: run("launch", none, "--prometheus", metrics, "--", "x")},
	}
	return append(rows, unit(b, "unit", ""), unit(b, "unit-nothing-to-do", `{"hotfixes":{"202604.01":""}}`))
}

// unit is the unit's own command, with /bin/true as the baked program.
func unit(b *testing.B, name, pointer string) *contender {
	b.Helper()
	m := newMachine(b)
	if pointer != "" {
		m.write("pointer.json", pointer)
	}
	check(b, os.Remove(m.baked))
	check(b, os.Symlink("/bin/true", m.baked))
	words := wrapper(b)
	row := &contender{name: name, arguments: append(words[:4:4], m.folder)}
	for flag, value := range m.flags {
		row.environment = append(row.environment, variable(flag)+"="+value)
	}
	return row
}
