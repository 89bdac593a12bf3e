package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// console is where a command reads and writes: results to standard output, and
// questions, notes and progress to standard error.
type console struct {
	in       *bufio.Reader
	out, err io.Writer
	json     bool // results are JSON: one document, and nothing else on out
	colours  bool // out is a terminal
	live     bool // err is a terminal

	interactive bool // in is one too: somebody can be asked
}

func newConsole(cmd *cobra.Command, json bool) *console {
	out, err := cmd.OutOrStdout(), cmd.ErrOrStderr()
	return &console{
		in: bufio.NewReader(cmd.InOrStdin()), out: out, err: err, json: json,
		colours: terminal(out) && os.Getenv("NO_COLOR") == "",
		live:    terminal(err),

		interactive: terminal(cmd.InOrStdin()),
	}
}

// terminal reports whether rw, a reader or writer, is one.
func terminal(rw any) bool {
	f, ok := rw.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// printf writes a part of the result, unless that is JSON.
func (c *console) printf(format string, args ...any) {
	if !c.json {
		fmt.Fprintf(c.out, format, args...)
	}
}

// note writes what is not part of the result.
func (c *console) note(format string, args ...any) {
	fmt.Fprintf(c.err, format+"\n", args...)
}

// result writes v, if results are JSON.
func (c *console) result(v any) error {
	if !c.json {
		return nil
	}
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// colour is how a terminal is told to write.
type colour string

const (
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
	bold   colour = "1"
	faint  colour = "2"
)

func (c *console) paint(how colour, s string) string {
	if !c.colours {
		return s
	}
	return "\x1b[" + string(how) + "m" + s + "\x1b[0m"
}

// table writes rows with their columns aligned, the first as a heading.
func (c *console) table(rows [][]string) {
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		line := strings.TrimRight(b.String(), " ")
		if n == 0 {
			line = c.paint(bold, line)
		}
		c.printf("%s\n", line)
	}
}

// errNoAnswer: there is nobody to ask.
var errNoAnswer = errors.New("there is nobody to ask: pass --yes to go ahead without")

// ask puts a question and returns the line that is answered, "" for an empty one.
func (c *console) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(c.err, question)
	type answer struct {
		line string
		err  error
	}
	answers := make(chan answer, 1)
	go func() { // a read cannot be cancelled; at the end the process ends it
		line, err := c.in.ReadString('\n')
		if line != "" {
			err = nil
		}
		answers <- answer{strings.TrimSpace(line), err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(c.err)
		return "", ctx.Err()
	case a := <-answers:
		if a.err != nil {
			fmt.Fprintln(c.err)
			return "", refusal{errNoAnswer}
		}
		return a.line, nil
	}
}

// confirm returns nil if the answer to a question is yes.
func (c *console) confirm(ctx context.Context, question string) error {
	line, err := c.ask(ctx, question+" [y/N] ")
	if err != nil {
		return err
	}
	switch strings.ToLower(line) {
	case "y", "yes":
		return nil
	}
	return refusal{errors.New("nothing was changed")}
}

// progress is a line on a terminal that says how far something is. On anything
// else it is not shown.
type progress struct {
	c    *console
	mu   sync.Mutex
	last time.Time
	any  bool
}

// progressEvery bounds how often the line is written.
const progressEvery = 100 * time.Millisecond

func (c *console) progress() *progress { return &progress{c: c} }

// show replaces the line.
func (p *progress) show(format string, args ...any) {
	if !p.c.live {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.last) >= progressEvery {
		p.last, p.any = now, true
		fmt.Fprintf(p.c.err, "\r\x1b[K"+format, args...)
	}
}

// end takes the line away.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.any {
		p.any = false
		fmt.Fprint(p.c.err, "\r\x1b[K")
	}
}
