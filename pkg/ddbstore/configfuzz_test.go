package ddbstore

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// FuzzConfigKeys: ids come back out of keys, and no two things share a key.
func FuzzConfigKeys(f *testing.F) {
	for _, id := range []string{"a", "#", "T#", "a#b", "V#0000000001", "CURRENT", "ü", "CHANGES", "2026-11#eu", "\x00", "~"} {
		f.Add(id, "a#b", int64(7), int64(70))
	}
	f.Fuzz(func(t *testing.T, a, b string, m, n int64) {
		if checkID("an id", a) != nil || checkID("an id", b) != nil {
			if a != "" && b != "" && len(a) <= maxID && len(b) <= maxID && utf8.ValidString(a) && utf8.ValidString(b) {
				t.Errorf("%q or %q was refused", a, b)
			}
			return
		}
		key := func(pk, sk string) string {
			if len(pk) > 2048 || len(sk) > 1024 || pk == "" || sk == "" {
				t.Errorf("%q / %q is no key", pk, sk)
			}
			return pk + "\x00/\x00" + sk
		}
		h := Hash{byte(m), byte(n), 3}
		keys := map[string]string{}
		for what, k := range map[string]string{
			"plan": key(planKey(a), current), "version": key(planKey(a), versionKey(m&0xffff)), "member": key(planKey(a), memberKey(b)),
			"tenant": key(tenantKey(a), current), "its version": key(tenantKey(a), versionKey(m&0xffff)), "owned": key(tenantKey(a), ownedKey(h)),
			"listed plan": key(plansKey, a), "listed tenant": key(tenantsKey, a), "credential": key(credentialKey(h), current),
			"clock": key(metaKey, clockKey), "home": key(metaKey, homeKey), "change": key(changesKey, changeKey(max(m, 0), 3)),
			"beat": key(heartbeatPrefix+a, current), "seen": key(heartbeatPrefix+a, seenPrefix+b), "job": key(jobPrefix+a, b),
			"usage": key(usagePrefix+a, usageKey("2026-11", b)),
		} {
			if other, taken := keys[k]; taken {
				t.Errorf("%s and %s have the key %q", what, other, k)
			}
			keys[k] = what
		}
		if a != b && (planKey(a) == planKey(b) || memberKey(a) == memberKey(b) || usageKey("2026-11", a) == usageKey("2026-11", b)) {
			t.Errorf("%q and %q share a key", a, b)
		}
		if got := strings.TrimPrefix(memberKey(b), memberPrefix); got != b {
			t.Errorf("member %q became %q", b, got)
		}
		if got, ok := ownedHash(ownedKey(h)); !ok || got != h {
			t.Errorf("hash %x became %x", h, got)
		}
		if _, ok := ownedHash(a); ok && a != ownedPrefix+strings.ToLower(strings.TrimPrefix(a, ownedPrefix)) {
			if got, _ := ownedHash(a); !strings.EqualFold(ownedKey(got), a) {
				t.Errorf("%q became %x", a, got)
			}
		}
		if m, n = max(m, 0), max(n, 0); m < n {
			if stampKey(m) >= stampKey(n) || changeKey(m, 99) >= stampKey(n) || changeKey(m, 0) < stampKey(m) {
				t.Errorf("the keys of %d and %d are in the wrong order", m, n)
			}
			if n < 1e10 && versionKey(m) >= versionKey(n) {
				t.Errorf("versions %d and %d are in the wrong order", m, n)
			}
		}
	})
}

// FuzzConfigItems decodes whatever may be in a table: it never panics, and what
// it cannot read is ErrUnavailable.
func FuzzConfigItems(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"pk":"a","sk":"T#a","body":"{}","ver":1,"stamp":2,"author":"a","changed":3}`, `{"ver":"1"}`, `{"ver":1.5}`, `{"ver":1e300}`,
		`{"sk":"2026-11#r","limits":{"api":[1,2,3]}}`, `{"sk":"x","limits":{"api":[1,2]}}`, `{"sk":"x","limits":{"api":1}}`, `{"sk":"x","limits":[]}`,
		`{"sk":"SEEN#b","at":1,"lag":{"b":1},"cut":["c"]}`, `{"lag":{"b":"x"},"cut":[1]}`, `{"lag":3,"cut":3,"at":[]}`, `{"sk":null,"plan":true}`,
		`{"sk":"K#00","status":1}`, `{"home":1,"stamp":[[1],{"a":{}}]}`, `{"kind":"plan","id":"pro","ver":9223372036854775808}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var doc map[string]any
		if json.Unmarshal(text, &doc) != nil {
			return
		}
		it := attribute(doc).(*types.AttributeValueMemberM).Value
		_, err1 := planOf("a", it)
		_, err2 := tenantOf("a", it)
		_, err3 := credentialOf(Hash{}, it)
		_, err4 := changedOf(it)
		_, err5 := jobOf("a", it)
		_, err6 := heartbeatOf("a", it)
		_, err7 := seenOf("a", it)
		_, err8 := usageOf("a", it)
		err9 := (&clock{}).action(&Config{}, 2).failed(it)
		conflicted := conflict(subject{KindPlan, "a"}, 1, it)
		for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8, err9} {
			if err != nil && !errors.Is(err, ErrUnavailable) {
				t.Errorf("%d: %v is not ErrUnavailable", i+1, err)
			}
		}
		if !errors.Is(conflicted, ErrConflict) && !errors.Is(conflicted, ErrUnavailable) {
			t.Error(conflicted)
		}
		ok := err1 == nil
		if p, _ := planOf("a", it); ok && p.Version != 0 { // what can be read can be written, and is the same then
			again := keyed(p.item(), planKey("a"), current)
			again[attrVersion], again[attrStamp] = num(p.Version), num(p.Stamp)
			p.Change.write(again)
			if q, err := planOf("a", again); err != nil || q != p {
				t.Errorf("%+v became %+v, %v", p, q, err)
			}
		}
		tn, _ := tenantOf("a", it)
		cr, _ := credentialOf(Hash{}, it)
		tn.listed(it)
		cr.listed(it)
	})
}

// attribute makes an attribute of a JSON value, a number of a number and so on.
func attribute(v any) types.AttributeValue {
	switch v := v.(type) {
	case map[string]any:
		m := item{}
		for name, v := range v {
			m[name] = attribute(v)
		}
		return &types.AttributeValueMemberM{Value: m}
	case []any:
		l := make([]types.AttributeValue, len(v))
		for i, v := range v {
			l[i] = attribute(v)
		}
		return &types.AttributeValueMemberL{Value: l}
	case string:
		return text(v)
	case float64:
		digits, _ := json.Marshal(v)
		return &types.AttributeValueMemberN{Value: string(digits)}
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}
	}
	return &types.AttributeValueMemberNULL{Value: true}
}
