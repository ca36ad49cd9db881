package cli_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// nameAddress names an address of this machine that nobody listens at.
func nameAddress(ts *testscript.TestScript, _ bool, arguments []string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(listener.Close())
	ts.Setenv(arguments[0], listener.Addr().String())
}

// scrape gets a page into a file, as soon as somebody serves it.
func scrape(ts *testscript.TestScript, _ bool, arguments []string) {
	client := http.Client{Timeout: time.Second}
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	err := fmt.Errorf("nobody serves %s", arguments[0])
	for deadline := time.Now().Add(patience); err != nil && time.Now().Before(deadline); <-ticker.C {
		var response *http.Response
		if response, err = client.Get(arguments[0]); err == nil {
			raw, unread := io.ReadAll(response.Body)
			_ = response.Body.Close()
			ts.Check(unread)
			ts.Check(os.WriteFile(ts.MkAbs(arguments[1]), raw, 0o600))
		}
	}
	ts.Check(err)
}
