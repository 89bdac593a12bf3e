package plan

// Template is a parsed key template such as "{tenant}:{ip}".
type Template struct {
	text string
}

// String returns the template as written.
func (t Template) String() string { return t.text }
