package identity

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"math"
	mathrand "math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
)

// scannable is the pattern of the documentation.
var scannable = regexp.MustCompile(`\bweir_([a-z0-9]{1,16}_)?[0-9A-Za-z]{28}\b`)

func newKey(t *testing.T, env string) string {
	t.Helper()
	key, err := NewKey(rand.Reader, env)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestNewKey(t *testing.T) {
	seen := map[string]bool{}
	for _, env := range []string{"", "live", "test", "x", "0123456789abcdef"} {
		for range 200 {
			key := newKey(t, env)
			switch {
			case seen[key]:
				t.Fatalf("%s was made twice", key)
			case scannable.FindString("token: "+key+",") != key:
				t.Errorf("%s is not what a scanner looks for", key)
			case !ValidKey(key) || !Issued(key) || Mistyped(key):
				t.Errorf("%s: valid %v, issued %v, mistyped %v", key, ValidKey(key), Issued(key), Mistyped(key))
			case env != "" && !strings.HasPrefix(key, "weir_"+env+"_"):
				t.Errorf("%s is not of %s", key, env)
			}
			seen[key] = true
		}
	}
}

// The format is for ever: keys in the hands of customers do not change.
func TestIssuedKeysOfOld(t *testing.T) {
	zeros := bytes.NewReader(make([]byte, 64))
	for _, want := range []string{ // checksums by Python's zlib
		"weir_live_000000000000000000000030KECm", "weir_00000000000000000000003L57dp",
	} {
		env := ""
		if strings.Count(want, "_") > 1 {
			env = "live"
		}
		if got, err := NewKey(zeros, env); got != want || err != nil {
			t.Errorf("NewKey of zeros = %q, %v; want %q", got, err, want)
		}
	}
}

func TestNewKeyErrors(t *testing.T) {
	for _, env := range []string{"Live", "a_b", "a-b", "ü", "01234567890abcdef", " "} {
		if key, err := NewKey(rand.Reader, env); key != "" || !errors.Is(err, ErrEnv) {
			t.Errorf("NewKey for %q = %q, %v; want ErrEnv", env, key, err)
		}
	}
	broken := errors.New("broken")
	if key, err := NewKey(iotest.ErrReader(broken), ""); key != "" || !errors.Is(err, broken) {
		t.Errorf("NewKey = %q, %v; want the reader's error", key, err)
	}
	if key, err := NewKey(bytes.NewReader(make([]byte, 8)), ""); key != "" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("NewKey of 8 bytes = %q, %v; want an error", key, err)
	}
}

// Every character is as likely as any other, also from bytes that are not
// multiples of 62.
func TestNewKeyIsUniform(t *testing.T) {
	source := mathrand.NewChaCha8([32]byte{1})
	const keys = 20_000
	var count [256]int
	for range keys {
		key, err := NewKey(source, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []byte(key[len(issuedPrefix) : len(issuedPrefix)+randomLen]) {
			count[c]++
		}
	}
	mean := float64(keys*randomLen) / 62
	for _, c := range []byte(base62) {
		if off := math.Abs(float64(count[c])-mean) / math.Sqrt(mean); off > 5 {
			t.Errorf("%c occurs %d times, %.1f standard deviations from the mean", c, count[c], off)
		}
	}
}

func TestMistyped(t *testing.T) {
	key := newKey(t, "live")
	bare := newKey(t, "")
	for _, tt := range []struct {
		name, key string
		want      bool
	}{
		{"issued", key, false},
		{"issued for no environment", bare, false},
		{"of another environment", strings.Replace(key, "live", "test", 1), true},
		{"without its environment", strings.Replace(key, "live_", "", 1), true},
		{"with an environment", strings.Replace(bare, "weir_", "weir_live_", 1), true},
		{"empty environment", strings.Replace(bare, "weir_", "weir__", 1), true},
		{"cut off", key[:len(key)-1], true},
		{"with something behind", key + "0", true},
		{"prefix alone", "weir_", true},
		{"prefix and a word", "weir_secret", true},
		{"made up", "weir_" + strings.Repeat("a", randomLen+checkLen), true},
		{"other characters", "weir_live_" + strings.Repeat("-", randomLen) + key[len(key)-checkLen:], true},

		{"imported", "acme-dev-key-1", false},
		{"imported, of GitHub's form", "ghp_" + key[10:], false},
		{"imported, like the prefix", "weir-" + bare[5:], false},
		{"imported, in capitals", strings.ToUpper(key), false},
		{"none", "", false},
	} {
		if got := Mistyped(tt.key); got != tt.want {
			t.Errorf("%s: Mistyped(%q) = %v, want %v", tt.name, tt.key, got, tt.want)
		}
	}
}

// Every single wrong character, and every two that changed places, is noticed.
func TestMistypedCharacters(t *testing.T) {
	key := newKey(t, "live")
	for i := len(issuedPrefix); i < len(key); i++ {
		for _, c := range []byte(base62) {
			if wrong := key[:i] + string(c) + key[i+1:]; wrong != key && !Mistyped(wrong) {
				t.Errorf("%s passes for %s", wrong, key)
			}
		}
		for j := i + 1; j < len(key); j++ {
			b := []byte(key)
			b[i], b[j] = b[j], b[i]
			if wrong := string(b); wrong != key && !Mistyped(wrong) {
				t.Errorf("%s passes for %s", wrong, key)
			}
		}
	}
}

func TestMistypedDoesNotAllocate(t *testing.T) {
	key := newKey(t, "live")
	if n := testing.AllocsPerRun(100, func() { Mistyped(key) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// What passes has the documented form, and its checksum is the only one that does.
func FuzzMistyped(f *testing.F) {
	f.Add("acme-dev-key-1")
	f.Add("weir_")
	f.Add("weir_live_000000000000000000000030KECm")
	f.Add("weir__\xff")
	f.Fuzz(func(t *testing.T, key string) {
		if !Issued(key) {
			if Mistyped(key) {
				t.Errorf("Mistyped(%q), which is none of Weir's", key)
			}
			return
		}
		if Mistyped(key) {
			return
		}
		if scannable.FindString(key) != key || !ValidKey(key) {
			t.Errorf("%q passes and is not of the form of keys", key)
		}
		last := key[len(key)-1]
		other := base62[(strings.IndexByte(base62, last)+1)%62]
		if wrong := key[:len(key)-1] + string(other); !Mistyped(wrong) {
			t.Errorf("%q and %q both pass", key, wrong)
		}
	})
}

// NewKey of any source is a key.
func FuzzNewKey(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), "live")
	f.Add(bytes.Repeat([]byte{255}, 64), "")
	f.Fuzz(func(t *testing.T, source []byte, env string) {
		key, err := NewKey(bytes.NewReader(source), env)
		if (err != nil) != (key == "") {
			t.Fatalf("NewKey = %q, %v", key, err)
		}
		if err == nil && (Mistyped(key) || !Issued(key) || scannable.FindString(key) != key) {
			t.Errorf("NewKey(%q, %q) = %q, which is none", source, env, key)
		}
	})
}

// The keys that docs/keys.md shows are keys.
func TestKeysOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/keys.md")
	if err != nil {
		t.Fatal(err)
	}
	keys := scannable.FindAll(page, -1)
	if len(keys) != 2 {
		t.Errorf("%d keys found, want 2", len(keys))
	}
	for _, key := range keys {
		if Mistyped(string(key)) {
			t.Errorf("%s is mistyped", key)
		}
	}
	if !bytes.Contains(page, []byte("`"+scannable.String()+"`")) {
		t.Errorf("the page does not show the pattern %s", scannable)
	}
}
