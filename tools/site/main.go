// Site builds the documentation as a site: plain HTML files that need no server, no script and no other host.
//
// Its pages are README.md, the other Markdown files of the root, and all below docs/. Files of the repository that a
// page links to are shown as pages of their own. A link to a file or a heading that is not there ends the build.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("out", "bin/site", "`folder` to write the site to")
	flag.Parse()
	root := "."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	pages, err := build(root, *out)
	if err != nil {
		fmt.Fprintf(os.Stderr, "site: %v\n", err)
		os.Exit(1)
	}
	fmt.Printf("%d pages in %s\n", pages, *out)
}
