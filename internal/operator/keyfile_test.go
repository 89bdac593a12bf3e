package operator

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"weir/internal/identity"
)

func issued(t *testing.T) string {
	t.Helper()
	key, err := identity.NewKey(rand.Reader, "test")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func hashOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

func TestReadKeys(t *testing.T) {
	key := issued(t)
	in := "\ufeff# old keys\r\n\r\nshort  the first\r\n" + key + "\n  a-key-that-is-long-enough\t build server  \n"
	got, err := ReadKeys(strings.NewReader(in), "keys.txt", Unsaid)
	if err != nil {
		t.Fatal(err)
	}
	want := []Imported{
		{Line: 3, Hash: sha256.Sum256([]byte("short")), Label: "the first"},
		{Line: 4, Hash: sha256.Sum256([]byte(key)), LastFour: key[len(key)-4:]},
		{Line: 5, Hash: sha256.Sum256([]byte("a-key-that-is-long-enough")), LastFour: "ough", Label: "build server"},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestReadHashes(t *testing.T) {
	h := hashOf("k")
	for _, format := range []Format{Hashed, Plain} {
		got, err := ReadKeys(strings.NewReader(strings.ToUpper(h)+" label\n"), "k", format)
		if err != nil || len(got) != 1 || got[0].Label != "label" {
			t.Fatalf("%v, %v", got, err)
		}
		if same := got[0].Hash == sha256.Sum256([]byte("k")); same != (format == Hashed) {
			t.Errorf("format %d: taken for a hash: %v", format, same)
		}
	}
	if _, err := ReadKeys(strings.NewReader(h), "k", Unsaid); err == nil || !strings.Contains(err.Error(), "--hashed") {
		t.Errorf("%v, want the question which it is", err)
	}
	if _, err := ReadKeys(strings.NewReader(h+"\nplain-key\n"), "k", Unsaid); err != nil {
		t.Errorf("%v: one key in hex among others is a key", err)
	}
}

func TestReadKeysErrors(t *testing.T) {
	key := issued(t)
	typo := key[:len(key)-1] + "!"
	for _, tt := range []struct {
		name, in string
		format   Format
		want     []string
	}{
		{"empty", "", Unsaid, []string{"f has no keys"}},
		{"comments only", "# a\n\n", Unsaid, []string{"f has no keys"}},
		{"mistyped", "good-key\n\n" + typo + "\n", Unsaid, []string{"f:3: ", "mistyped"}},
		{"cut off", key[:20], Unsaid, []string{"f:1: ", "mistyped or cut off"}},
		{"not ASCII", "schlüssel", Unsaid, []string{"f:1: ", "visible ASCII"}},
		{"too long a key", strings.Repeat("k", 257), Unsaid, []string{"f:1: ", "256"}},
		{"too long a line", "k\n" + strings.Repeat("k", maxKeyLine+1), Unsaid, []string{"f:2: ", "longer"}},
		{"twice", "k1\nk2\nk1", Unsaid, []string{"f:3: ", "line 1"}},
		{"several", "k1\n" + typo + "\nk1\n" + typo, Unsaid, []string{"f:2: ", "f:3: ", "f:4: "}},
		{"no hash", "k1", Hashed, []string{"f:1: ", "64 hex digits"}},
		{"half a hash", hashOf("k")[:63], Hashed, []string{"f:1: ", "64 hex digits"}},
		{"label", "k1 a\x07b", Unsaid, []string{"f:1: ", "control"}},
		{"long label", "k1 " + strings.Repeat("l", maxLabel+1), Unsaid, []string{"f:1: ", "label"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			keys, err := ReadKeys(strings.NewReader(tt.in), "f", tt.format)
			if err == nil || keys != nil {
				t.Fatalf("%v, %v; want an error and no keys", keys, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %q", want, err)
				}
			}
			for _, secret := range strings.Fields(tt.in) {
				if len(secret) > 4 && secret != "mistyped" && strings.Contains(err.Error(), secret) {
					t.Errorf("%q shows what it was given", err)
				}
			}
		})
	}
	var line *LineError
	if _, err := ReadKeys(strings.NewReader("k\n\x01"), "f", Unsaid); !errors.As(err, &line) || line.Line != 2 || line.File != "f" {
		t.Errorf("%v, want a LineError of line 2", err)
	}
}

func FuzzReadKeys(f *testing.F) {
	f.Add("key label\n# c\n", 0)
	f.Add(strings.Repeat("0", 64), 2)
	f.Add("weir_live_x", 1)
	f.Fuzz(func(t *testing.T, in string, format int) {
		keys, err := ReadKeys(strings.NewReader(in), "f", Format(format))
		if (err == nil) == (len(keys) == 0) {
			t.Errorf("%d keys and error %v", len(keys), err)
		}
		for _, k := range keys {
			if len(k.LastFour) > 4 || CheckLabel(k.Label) != nil {
				t.Errorf("%+v", k)
			}
		}
	})
}
