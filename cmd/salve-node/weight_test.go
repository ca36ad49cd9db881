//go:build linux

package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix/hotfixtest"
)

// maxSize bounds the stripped program, in bytes.
const maxSize = 8_000_000

func TestTheProgramIsSmall(t *testing.T) {
	info, err := os.Stat(releasedNode(t))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxSize {
		t.Errorf("%d bytes, more than %d", info.Size(), maxSize)
	}
	t.Logf("%d bytes", info.Size())
}

// TestNoClientIsLinked: neither of a cloud nor of Kubernetes, and no runtime of
// gRPC. Of k8s.io only the clock is here.
func TestNoClientIsLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "salve/cmd/salve-node").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 50 {
		t.Fatalf("only %d packages were listed", len(packages))
	}
	for _, one := range packages {
		foreign := strings.HasPrefix(one, "k8s.io/") || strings.HasPrefix(one, "sigs.k8s.io/")
		for _, word := range []string{"azure-sdk", "AzureAD", "google.golang.org/", "salve/azure", "salve/kube",
			"salve/engine", "salve/journal", "salve/internal/hotfix/hotfixtest", "cobra"} {
			foreign = foreign || strings.Contains(one, word)
		}
		if foreign && one != "k8s.io/utils/clock" {
			t.Errorf("%s is linked", one)
		}
	}
}

// maxParent bounds the memory of launch, in KiB, while it watches over a program.
const maxParent = 12 << 10

// TestTheParentIsSmall: of 20 MiB of program it keeps nothing, and what comes before the program is another process's.
func TestTheParentIsSmall(t *testing.T) {
	m := newMachine(t)
	m.stage(becomes("echo >$FOLDER/ready; exec sleep 3600"))
	image, err := os.ReadFile(m.staged)
	check(t, err)
	behaviour := image[strings.LastIndex(string(image), hotfixtest.Trailer()):]
	m.stageImage(append(append(image, make([]byte, 20<<20)...), behaviour...))
	boot := m.start()
	m.waits()
	kib := highWater(t, m.find("launch"))
	check(t, boot.Process.Signal(syscall.SIGTERM))
	if code := m.end(boot); code != 128+int(syscall.SIGTERM) {
		t.Errorf("exit code %d\n%s", code, m.log())
	}
	if kib > maxParent {
		t.Errorf("launch held %d KiB, more than %d", kib, maxParent)
	}
	t.Logf("launch held %.1f MiB", float64(kib)/1024)
}

// stage puts a program of 20 MiB where select finds all well.
func stage(b *testing.B, path string) {
	b.Helper()
	image := hotfixtest.Image(b, hotfixtest.Behaviour{Version: "202604.01.2"})
	image = append(make([]byte, 0, 20<<20), image...)[:20<<20]
	hotfixtest.Write(b, path, image)
	manifest := fmt.Sprintf(`{"schemaVersion": 1, "target": "202604.01.2", "sha256": "%x"}`, sha256.Sum256(image))
	check(b, os.WriteFile(path+".manifest", []byte(manifest), 0o600))
}

// peak is the most memory that a process holds, in KiB. What wait4 says would
// include this process's own, from before the exec: so it is stopped at its end, and
// the kernel is asked.
func peak(b *testing.B, command *exec.Cmd) (kib int) {
	b.Helper()
	runtime.LockOSThread() // ptrace is a thread's affair
	defer runtime.UnlockOSThread()
	command.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	check(b, command.Start())
	pid := command.Process.Pid
	var status syscall.WaitStatus
	_, err := syscall.Wait4(pid, &status, 0, nil)
	check(b, err)
	check(b, syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACEEXIT))
	for !status.Exited() {
		signal := status.StopSignal()
		if signal == syscall.SIGTRAP {
			signal = 0 // the stop at an exec or at the end, not the program's own
		}
		if status.TrapCause() == syscall.PTRACE_EVENT_EXIT {
			kib = highWater(b, pid)
		}
		check(b, syscall.PtraceCont(pid, int(signal)))
		_, err := syscall.Wait4(pid, &status, 0, nil)
		check(b, err)
	}
	return kib
}

func highWater(b testing.TB, pid int) (kib int) {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	check(b, err)
	_, after, _ := strings.Cut(string(raw), "VmHWM:")
	_, err = fmt.Sscanf(after, "%d kB", &kib)
	check(b, err)
	return kib
}

func timed(t testing.TB, words ...string) time.Duration {
	t.Helper()
	began := time.Now()
	check(t, exec.Command(words[0], words[1:]...).Run())
	return time.Since(began)
}

// programs is the folder of what the tests build.
var programs string

// tests has the folder while the tests run.
type tests struct{ *testing.M }

func (m tests) Run() int {
	folder, err := os.MkdirTemp("", "salve-node-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	programs = folder
	// Situations of a boot wait more than they work.
	if err := flag.Set("test.parallel", "32"); err != nil {
		panic(err)
	}
	return m.M.Run()
}

// released is salve-node as it is released, built once.
var released = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programs, "salve-node")
	return path, build(path, "salve/cmd/salve-node")
})

func releasedNode(t testing.TB) string {
	t.Helper()
	path, err := released()
	check(t, err)
	return path
}

// slim does without inlining: what only downloads and unpacks. The rest of a boot is faster with it by a tenth.
var slim = []string{"net/http/...", "net", "crypto/tls", "crypto/x509", "github.com/..."}

func build(path, what string) error {
	words := []string{"build", "-trimpath", "-ldflags", "-s -w", "-o", path}
	for _, packages := range slim {
		words = append(words, "-gcflags="+packages+"=-l")
	}
	command := exec.Command("go", append(words, what)...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// TestReleasesAreBuiltAsMeasured: what is weighed here is what the Makefile and releases build.
func TestReleasesAreBuiltAsMeasured(t *testing.T) {
	for file, want := range map[string]string{
		"../../Makefile":         "\nSLIM := " + strings.Join(slim, " ") + "\n",
		"../../.goreleaser.yaml": "gcflags: [" + strings.Join(slim, "=-l, ") + "=-l]",
	} {
		raw, err := os.ReadFile(file)
		check(t, err)
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s lacks %q", file, want)
		}
	}
}

func minimal(b *testing.B) string {
	b.Helper()
	source := filepath.Join(b.TempDir(), "main.go")
	check(b, os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600))
	path := filepath.Join(filepath.Dir(source), "minimal")
	check(b, build(path, source))
	return path
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
