package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"salve/internal/kubetest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	plane, err := kubetest.Launch(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("export KUBECONFIG=%s\n", plane.Kubeconfig())
	<-ctx.Done()
	return plane.Close()
}
