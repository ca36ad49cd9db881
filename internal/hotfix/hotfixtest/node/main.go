//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"salve/internal/hotfix/hotfixtest"
)

func main() {
	raw, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		panic(err)
	}
	var behaviour hotfixtest.Behaviour
	if at := bytes.LastIndex(raw, []byte(hotfixtest.Trailer())); at >= 0 {
		if err := json.Unmarshal(raw[at+len(hotfixtest.Trailer()):], &behaviour); err != nil {
			panic(err)
		}
	}
	if len(os.Args) > 1 && os.Args[1] == "version" {
		answer(behaviour)
		return
	}
	run(behaviour)
}

// answer is the version command.
func answer(b hotfixtest.Behaviour) {
	fmt.Println(b.Version)
	time.Sleep(b.AnswersAfter)
	os.Exit(b.AnswerExit)
}

func run(b hotfixtest.Behaviour) {
	signals := make(chan os.Signal, 8)
	if b.Signals {
		signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
			syscall.SIGWINCH)
	}
	fmt.Println("ran", b.Version, strings.Join(os.Args[1:], " "))
	for b.Signals {
		one := <-signals
		fmt.Println("got", one)
		if one == syscall.SIGTERM {
			break
		}
	}
	time.Sleep(b.For)
	if b.Panics {
		panic("a mistake")
	}
	if b.Becomes != "" {
		words := append([]string{"sh", "-c", b.Becomes, os.Args[0]}, os.Args[1:]...)
		panic(syscall.Exec("/bin/sh", words, os.Environ())) //nolint:gosec // G702: a test's script, with a test's words
	}
	if b.DiesFrom != 0 {
		// Go makes an exit code of some signals; a shell dies from all of them.
		panic(syscall.Exec("/bin/sh", []string{"sh", "-c", fmt.Sprintf("kill -%d $$", b.DiesFrom)}, os.Environ()))
	}
	os.Exit(b.Exit)
}
