package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"weir"
	"weir/internal/authorizer"
	"weir/internal/devgateway"
	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/internal/plan"
)

const (
	defaultPlans    = "examples/plans.yaml"
	defaultTemplate = "template.yaml"
)

// devFlags are the flags of `weir dev`.
type devFlags struct {
	addr           string
	plans          string
	template       string
	keyHeader      string
	sourceIPHeader string
	endpoint       string
	region         string
	quiet          bool
}

func newDev() *cobra.Command {
	var f devFlags
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run a local API Gateway with Weir in front of an echo backend",
		Long: `Run a local REST API: HTTP requests become authorizer events, the real authorizer
answers them, and refusals come out as the gateway responses of template.yaml say,
so a 429 looks as it will on AWS. Behind it is a backend that echoes the decision.

Plans and tenants, with their API keys in plain text, come from a plans file; that
is for development only. Buckets are in memory, or with --dynamodb-endpoint in a
local DynamoDB such as MiniStack; then the plans file is copied into its config
table and requests are decided from there, as they are on AWS.

When it ends it says what it has counted, under the names of Weir's metrics; on
SIGUSR1 it says so while it runs.`,
		Example: `  weir dev
  weir dev --addr 127.0.0.1:0 --quiet            any free port, no request log
  weir dev --plans my-plans.yaml
  weir dev --dynamodb-endpoint http://127.0.0.1:4566
  curl -i -H 'x-api-key: acme-dev-key-1' http://127.0.0.1:8080/v1/things`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDev(cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.addr, "addr", "127.0.0.1:8080", "`HOST:PORT` to listen on; port 0 takes a free one")
	fl.StringVar(&f.plans, "plans", defaultPlans, "plans `FILE`, with tenants and their keys")
	fl.StringVar(&f.template, "template", defaultTemplate, "SAM or CloudFormation `FILE` with the gateway responses; without one here, a built-in copy")
	fl.StringVar(&f.keyHeader, "key-header", authorizer.DefaultKeyHeader, "request header with the API key")
	fl.StringVar(&f.sourceIPHeader, "source-ip-header", "", "believe this request `HEADER` about the client's address, to try limits by IP")
	fl.StringVar(&f.endpoint, "dynamodb-endpoint", "", "keep buckets and plans in the local DynamoDB at `URL`")
	fl.StringVar(&f.region, "region", "us-east-1", "`REGION` of its tables")
	fl.BoolVar(&f.quiet, "quiet", false, "no line per request and nothing at the end; what goes wrong is still reported")
	return cmd
}

func runDev(cmd *cobra.Command, f devFlags) error {
	template, templateName, err := readTemplate(f.template, cmd.Flags().Changed("template"))
	if err != nil {
		return err
	}
	plans, err := readPlans(f.plans)
	if err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	s := stack{
		plans:          plans,
		region:         f.region,
		template:       template,
		keyHeader:      f.keyHeader,
		sourceIPHeader: f.sourceIPHeader,
		record:         newRequestLog(stderr, f.quiet).write,
		log:            slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	if s.store, s.directory, err = f.open(cmd.Context(), plans, s.log); err != nil {
		return err
	}
	counted := s.count()
	h, err := s.handler()
	if err != nil {
		return fmt.Errorf("%s: %w", f.plans, err)
	}
	ln, err := listen(f.addr)
	if err != nil {
		return err
	}
	g := greeting{
		base:      "http://" + ln.Addr().String(),
		plansFile: f.plans,
		template:  templateName,
		buckets:   f.where(),
		plans:     plans,
		keyHeader: f.keyHeader,
	}
	if err := g.write(cmd.OutOrStdout()); err != nil {
		return errors.Join(fmt.Errorf("write to standard output: %w", err), ln.Close())
	}
	if status := template.DenyStatus(); status != http.StatusTooManyRequests {
		fmt.Fprintf(stderr, "warning: %s makes a refusal %d; for 429 it needs a gateway response ACCESS_DENIED with that StatusCode\n", templateName, status)
	}
	if !ln.Addr().(*net.TCPAddr).IP.IsLoopback() {
		fmt.Fprintln(stderr, "warning: other machines can reach this address, and the plans file has keys in plain text")
	}
	counted.writeOnSignal(cmd.Context(), stderr)
	err = devgateway.Serve(cmd.Context(), ln, h)
	if !f.quiet {
		err = errors.Join(err, counted.write(stderr))
	}
	return err
}

// open returns where buckets and tenants are kept.
func (f devFlags) open(ctx context.Context, plans *plan.File, log *slog.Logger) (limiter.Store, directory.Directory, error) {
	if f.endpoint != "" {
		return tables(ctx, f.endpoint, f.region, plans, log)
	}
	dir, err := directory.NewStatic(plans)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.plans, err)
	}
	return memstore.New(f.region), dir, nil
}

// where says where buckets are kept.
func (f devFlags) where() string {
	if f.endpoint == "" {
		return "in memory, full again with every start"
	}
	return fmt.Sprintf("table %s in %s at %s", devBuckets, f.region, f.endpoint)
}

// readPlans reads the plans file, with hints for who has none.
func readPlans(name string) (*plan.File, error) {
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no plans file %s; name yours with --plans FILE, or run weir in a checkout, which has %s", name, defaultPlans)
	case err != nil:
		return nil, fmt.Errorf("read plans: %w", err)
	}
	f, err := plan.Parse(name, data)
	if err != nil {
		return nil, fmt.Errorf("the plans file is not right:\n%w", err)
	}
	return f, nil
}

// readTemplate reads the template and returns what to call it. One that is not
// asked for may be missing: then it is the built-in copy.
func readTemplate(name string, asked bool) (*devgateway.Template, string, error) {
	data, err := os.ReadFile(name)
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist) && !asked:
		name, data = "template.yaml (built-in copy)", weir.Template
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", fmt.Errorf("there is no template %s; leave --template out to use the built-in copy of Weir's", name)
	default:
		return nil, "", fmt.Errorf("read template: %w", err)
	}
	t, err := devgateway.ParseTemplate(name, data)
	if err != nil {
		return nil, "", fmt.Errorf("the template is not right:\n%w", err)
	}
	return t, name, nil
}

// listen listens on addr, with hints for what commonly goes wrong.
func listen(addr string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, fmt.Errorf("--addr %q: want HOST:PORT, for example 127.0.0.1:8080", addr)
	}
	ln, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use; take another port with --addr, or any free one with --addr %s", addr, freePort(addr))
	case err != nil:
		return nil, fmt.Errorf("--addr: %w", err)
	}
	return ln, nil
}

// freePort returns addr with the port that means any.
func freePort(addr string) string {
	return addr[:strings.LastIndex(addr, ":")] + ":0"
}
