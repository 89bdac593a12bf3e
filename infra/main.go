// Infra synthesises the CloudFormation templates of a deployment. It reads
// weir.yaml, or the file that WEIR_INFRA_CONFIG names, and calls nobody.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/aws/jsii-runtime-go"

	"weir/infra/app"
	"weir/infra/config"
)

func main() {
	file := flag.String("config", or(os.Getenv("WEIR_INFRA_CONFIG"), "weir.yaml"), "what to deploy, and where")
	out := flag.String("out", os.Getenv("CDK_OUTDIR"), "folder for the templates and assets")
	binaries := flag.String("binaries", or(os.Getenv("WEIR_INFRA_BINARIES"), "../build/arm64"), "folder with <function>/bootstrap for arm64")
	flag.Parse()
	if err := run(*file, *out, *binaries); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(os.Stderr, "infra: "+line)
		}
		os.Exit(1)
	}
}

func run(file, out, binaries string) error {
	c, err := config.Load(file)
	if err != nil {
		return err
	}
	defer jsii.Close()
	return app.Synth(c, app.Options{Outdir: out, Binaries: binaries, Nag: true})
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
