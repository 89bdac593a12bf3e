package ddbstore

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Kinds of what the configuration consists of, as Changed.Kind and
// ConflictError.Kind have them. KindHome is a change of the home Region, whose
// name is the ID. Readers are to skip kinds that they do not know.
const (
	KindPlan       = "plan"
	KindTenant     = "tenant"
	KindCredential = "credential"
	KindHome       = "home"
)

// Partition keys of the config table, or what they begin with; the rest is an
// id. No id is escaped: the first "#" of a key ends what this package chose.
const (
	planPrefix       = "PLAN#"
	tenantPrefix     = "TENANT#"
	credentialPrefix = "CRED#"
	heartbeatPrefix  = "HEARTBEAT#"
	jobPrefix        = "JOB#"
	usagePrefix      = "USAGE#"
	plansKey         = "PLANS"
	tenantsKey       = "TENANTS"
	changesKey       = "CHANGES"
	metaKey          = "META"
)

// Sort keys of the config table, or what they begin with.
const (
	current      = "CURRENT" // what holds now, and nothing else
	clockKey     = "CLOCK"   // of META
	homeKey      = "HOME"    // of META
	memberPrefix = "T#"      // of a plan: its tenants
	ownedPrefix  = "K#"      // of a tenant: its credentials
	seenPrefix   = "SEEN#"   // of a heartbeat: those of other Regions
)

// Sizes that DynamoDB or common sense bounds, in bytes. A sort key may have
// 1,024, of which a prefix takes some.
const (
	maxID     = 1000
	maxAuthor = 256
	maxReason = 4096
)

func planKey(name string) string      { return planPrefix + name }
func tenantKey(id string) string      { return tenantPrefix + id }
func credentialKey(h Hash) string     { return credentialPrefix + hex.EncodeToString(h[:]) }
func versionKey(version int64) string { return fmt.Sprintf("V#%010d", version) }
func memberKey(tenant string) string  { return memberPrefix + tenant }
func ownedKey(h Hash) string          { return ownedPrefix + hex.EncodeToString(h[:]) }

// changeKey is the sort key of the n-th entry under a stamp in the feed.
func changeKey(stamp int64, n int) string { return fmt.Sprintf("%s#%02d", stampKey(stamp), n) }

// stampKey orders as stamps do. It comes before every entry under the stamp, and
// after all those under lesser ones.
func stampKey(stamp int64) string { return fmt.Sprintf("%020d", stamp) }

// ownedHash returns the hash in an ownedKey.
func ownedHash(key string) (h Hash, ok bool) {
	digits, ok := strings.CutPrefix(key, ownedPrefix)
	if !ok || len(digits) != hex.EncodedLen(len(h)) {
		return h, false
	}
	_, err := hex.Decode(h[:], []byte(digits))
	return h, err == nil
}

// checkID refuses what cannot be a part of a key.
func checkID(what, id string) error {
	switch {
	case id == "":
		return fmt.Errorf("it needs %s", what)
	case len(id) > maxID:
		return fmt.Errorf("%s of %d bytes is too long: at most %d", what, len(id), maxID)
	case !utf8.ValidString(id):
		return fmt.Errorf("%s that is not UTF-8: %q", what, id)
	}
	return nil
}
