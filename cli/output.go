package cli

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
)

// Output is where and how a command of Main answers.
type Output struct {
	// Answer carries the answer, Log everything else.
	Answer, Log io.Writer
	// JSON: the answer is one JSON document.
	JSON bool
	// Width is how many columns the answer may take; 0 where it isn't a terminal.
	Width int
	// Verbosity above 0 logs every call.
	Verbosity int

	app *app
}

// OutputOf is the output that the user asked of a command.
func OutputOf(command *cobra.Command) Output {
	a := appOf(command)
	return Output{Answer: a.stdout, Log: a.stderr, JSON: a.json(), Width: a.width(), Verbosity: a.verbosity, app: a}
}

// Document prints the JSON document that answers the command.
func (o Output) Document(document any) error { return o.app.document(document) }

// Line is Document on one line, for who reads on while the command goes on.
func (o Output) Line(document any) error {
	o.app.answered = true
	return json.NewEncoder(o.Answer).Encode(document)
}

// Usage is the error of a command that can't be executed as it was given.
func Usage(format string, args ...any) error { return usage(format, args...) }

// Nearest is the word that a misspelt one may stand for; empty when none is near.
func Nearest(word string, words []string) string { return nearest(word, words) }

// Quote writes words so that a shell reads them as they are.
func Quote(words []string) string { return shell(words) }

type appKey struct{}

func withApp(ctx context.Context, a *app) context.Context { return context.WithValue(ctx, appKey{}, a) }

// appOf panics for a command that Main doesn't execute.
func appOf(command *cobra.Command) *app { return command.Context().Value(appKey{}).(*app) }
