package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// document parses data, which must be one YAML document, and returns its root,
// or nil if it has reported an error.
func (d *decoder) document(data []byte) *yaml.Node {
	if len(data) > MaxFileSize {
		d.errorAt(1, 1, fmt.Errorf("%d bytes: at most %d", len(data), MaxFileSize))
		return nil
	}
	if i, why := badText(data); why != "" {
		line, column := position(data, i)
		d.errorAt(line, column, errors.New(why))
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		d.errorAt(1, 1, errors.New("empty: want a mapping"))
		return nil
	case err != nil:
		d.syntaxError(data, err)
		return nil
	}
	switch err := dec.Decode(&next); {
	case err == nil:
		d.errorf(&next, "a second document begins here: put everything into one")
		return nil
	case !errors.Is(err, io.EOF):
		d.syntaxError(data, err)
		return nil
	}
	if len(doc.Content) != 1 { // the parser always gives a document one root
		d.errorAt(1, 1, errors.New("empty: want a mapping"))
		return nil
	}
	return resolve(doc.Content[0])
}

// badText returns where data stops being text that YAML allows, and why.
func badText(data []byte) (int, string) {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			return i, "not UTF-8: save the file as UTF-8"
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x7f:
			return i, fmt.Sprintf("control character %U", r)
		}
		i += size
	}
	return 0, ""
}

// position returns the line and column of offset i, from 1.
func position(data []byte, i int) (line, column int) {
	before := data[:i]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// syntaxError reports an error of the YAML parser, which tells the line in its
// text, if at all, and no column.
func (d *decoder) syntaxError(data []byte, err error) {
	line, msg := splitLine(strings.TrimPrefix(err.Error(), "yaml: "))
	lines := bytes.Split(data, []byte("\n"))
	line = min(line, len(lines))
	if name, ok := strings.CutPrefix(msg, "unknown anchor '"); ok {
		name, _, _ = strings.Cut(name, "'")
		if i := bytes.Index(data, []byte("*"+name)); i >= 0 {
			line, column := position(data, i)
			d.errorAt(line, column, fmt.Errorf("YAML: %s", msg))
			return
		}
	}
	if strings.Contains(msg, "tab") || strings.Contains(msg, "cannot start any token") {
		for i, l := range lines[line-1:] {
			if indent := len(l) - len(bytes.TrimLeft(l, " ")); indent < len(l) && l[indent] == '\t' {
				d.errorAt(line+i, indent+1, errors.New("YAML: a tab in the indentation: indent with spaces"))
				return
			}
		}
	}
	l := lines[line-1]
	d.errorAt(line, len(l)-len(bytes.TrimLeft(l, " \t"))+1, fmt.Errorf("YAML: %s", msg))
}

// splitLine takes the line number off a message of the YAML parser; it is 1 if
// the message has none.
func splitLine(msg string) (line int, text string) {
	line, text = 1, msg
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		number, after, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, text = max(n, 1), after
		}
		if strings.HasPrefix(text, "did not find expected") {
			line++ // these it counts from 0
		}
	}
	if text == "did not find expected key" || strings.HasPrefix(text, "did not find expected '-'") {
		text += ", in the block that begins or ends here: check the indentation" // it tells no more
	}
	return line, text
}
