package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"weir/infra/config"
)

// Synth writes the templates of a deployment. What the CDK refuses it says with a
// panic; here it is an error.
func Synth(c *config.Config, o Options) (err error) {
	for _, f := range functions {
		if _, err := os.Stat(filepath.Join(o.Binaries, f, "bootstrap")); err != nil {
			return fmt.Errorf("%s is not built: run `make build ARCH=arm64` (%w)", f, err)
		}
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("synthesise: %v", p)
		}
	}()
	dir := *New(c, o).Synth(nil).Directory()
	if !o.Nag {
		return nil
	}
	complaints, err := Complaints(dir)
	if err == nil && len(complaints) > 0 {
		err = fmt.Errorf("cdk-nag: each must be corrected, or excepted with a reason in infra/app/nag.go:\n%s", strings.Join(complaints, "\n"))
	}
	return err
}

// functions are those whose binaries are deployed.
var functions = []string{"authorizer", "reconciler"}
