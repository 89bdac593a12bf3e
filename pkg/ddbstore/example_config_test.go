package ddbstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"weir/pkg/ddbstore"
)

// A tenant moves to another plan, on condition that nobody has changed it since
// it was read.
func ExampleConfig_Write() {
	cfg, err := ddbstore.EnvConfig(os.Getenv)
	if err != nil {
		fmt.Println(err)
		return
	}
	config := ddbstore.NewConfig(ddbstore.NewClient(cfg), "weir-config").In(cfg.Region)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	tenant, err := config.Tenant(ctx, "acme")
	if err != nil {
		fmt.Println(err)
		return
	}
	tenant.Plan = "pro"
	change := ddbstore.Change{Author: "ada", Reason: "they have upgraded", At: time.Now().UnixNano()}
	written, err := config.Write(ctx, change, tenant)

	var conflict *ddbstore.ConflictError
	var home *ddbstore.HomeError
	switch {
	case errors.As(err, &conflict):
		fmt.Printf("%s was faster: look at version %d and decide again\n", conflict.Change.Author, conflict.Version)
	case errors.As(err, &home):
		fmt.Println("do this in", home.Home)
	case err != nil:
		fmt.Println(err)
	default:
		fmt.Println("version", written[0].(ddbstore.Tenant).Version)
	}
}
