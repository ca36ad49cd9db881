package cli

import (
	"context"
	"log/slog"

	azlog "github.com/Azure/azure-sdk-for-go/sdk/azcore/log"

	"salve/internal/console"
)

// logCalls writes the SDK's lines about each call to the log, where more than the
// ordinary was asked for. The SDK leaves headers and bodies that hold secrets out.
func (a *app) logCalls() {
	if a.verbosity == 0 {
		return
	}
	handler := console.NewHandler(a.stderr, a.verbosity)
	azlog.SetEvents(azlog.EventRequest, azlog.EventResponse)
	azlog.SetListener(func(event azlog.Event, text string) {
		slog.New(handler).LogAttrs(context.Background(), slog.LevelDebug, text,
			slog.String("component", "azure"), slog.String("phase", string(event)))
	})
}
