package breakglass

import (
	"fmt"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// contextVariable stands for the kubeconfig's context where nobody named one.
const contextVariable = "PROW_CONTEXT"

// commands are those of the first stated way that is proven and has some, or else git's and kubectl's.
func (p *Plan) commands(in Input) {
	for _, way := range in.Exit.Ways {
		if len(way.Lacks) > 0 || len(way.Commands) == 0 {
			continue
		}
		p.Way = fmt.Sprintf("%s (%s)", way.Name, way.Position)
		for _, command := range way.Commands {
			p.Commands = append(p.Commands, Command{Text: strings.ReplaceAll(command, "{revision}", in.Commit),
				Why: "as the break-glass file has it"})
		}
		return
	}
	p.kubectl(in)
}

// kubectl applies each file of the revision, from a checkout of it beside the repository.
func (p *Plan) kubectl(in Input) {
	// Each line refuses by itself: a shell that somebody pastes into goes on after a line that failed, and kubectl takes
	// an empty context for the current one.
	context := `"${` + contextVariable + `:?the kubeconfig context of Prow's cluster}"`
	if in.Context != "" {
		context = p.quoted("--context", in.Context)
	}
	tree := in.Root + "-" + in.Commit[:min(12, len(in.Commit))]
	root, checkout := p.quoted("the repository", in.Root), p.quoted("the checkout", tree)
	if context == "" || root == "" || checkout == "" {
		return
	}
	p.add("git -C "+root+" worktree add --detach "+checkout+" "+in.Commit, "the files as the revision has them")
	for _, stage := range p.Stages {
		for _, file := range stage.Files {
			if file.Incomplete != "" { // applying it would do what nobody here has read
				p.Unknown = append(p.Unknown, fmt.Sprintf("no command: manifest %q was not understood whole: %s", file.Path,
					file.Incomplete))
				continue
			}
			whole := p.quoted("manifest", inTree(tree, file.Path))
			if whole == "" {
				continue
			}
			why := stage.Name
			if !file.differs {
				why += "; the same now, so only if the cluster differs from git"
			}
			p.Commands = append(p.Commands, Command{
				Text: "kubectl --context " + context + " apply -f " + whole, Why: why, Optional: file.rank == protection,
			})
		}
	}
	p.add("git -C "+root+" worktree remove "+checkout, "when all is done")
}

func (p *Plan) add(text, why string) { p.Commands = append(p.Commands, Command{Text: text, Why: why}) }

// quoted is a word for a POSIX shell. What can't be one is named and has no command.
func (p *Plan) quoted(what, word string) string {
	quoted, err := quote(word)
	if err != nil {
		p.Unknown = append(p.Unknown, fmt.Sprintf("no command: %s %q: %v", what, word, err))
		return ""
	}
	return quoted
}

// quote writes a word for a POSIX shell. A word that steers a terminal is refused, and so is one that a program would
// take for a flag.
func quote(word string) (string, error) {
	switch {
	case word == "":
		return "", fmt.Errorf("it is empty")
	case strings.HasPrefix(word, "-"):
		return "", fmt.Errorf("it begins as a flag does")
	case strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }):
		return "", fmt.Errorf("it has characters that can't be shown")
	}
	return syntax.Quote(word, syntax.LangPOSIX)
}
