package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Parts that a table has in Weir.
const (
	BucketsTable = "buckets"
	ConfigTable  = "config"
	StrictTable  = "strict"
)

// Table is a table with all its replicas, seen from one Region.
type Table struct {
	Name       string
	Role       string // BucketsTable, ConfigTable or StrictTable
	Region     string // from which it is seen
	Keys       string // "pk S, sk S"
	TTL        string // attribute, "" if it is off
	Stream     string // view type, "" if it is off
	Replicas   []string
	Witness    string
	Strong     bool // multi-Region strong consistency
	Protected  bool // deletion protection
	Recovery   bool // point in time
	Unrecovery bool // recovery was not looked at
	Missing    bool // there is no such table
}

// wantedKeys is the key schema of every table.
const wantedKeys = "pk S, sk S"

func (c *check) tables(d Deployment) {
	for _, t := range d.Tables {
		where := fmt.Sprintf("%s table %s in %s", t.Role, t.Name, t.Region)
		if t.Missing {
			c.broken("table-missing", where, "there is no such table.", "Deploy the data stack; a new replica takes some minutes.")
			continue
		}
		if t.Keys != wantedKeys {
			c.broken("table-keys", where, "its keys are "+orDefault(t.Keys, "none")+".", "They must be "+wantedKeys+": make it anew.")
		}
		for _, r := range d.Regions {
			if !slices.Contains(t.Replicas, r) && len(d.Regions) > 1 {
				c.broken("table-replicas", where, "it has no replica in "+r+".", "Add the Region to the data stack.")
			}
		}
		c.tableRole(where, t)
	}
}

func (c *check) tableRole(where string, t Table) {
	switch t.Role {
	case BucketsTable:
		if t.TTL != "ttl" {
			c.risky("table-ttl", where, "rows that are full again are never deleted: TTL is "+orDefault(t.TTL, "off")+".", "Turn TTL on for attribute ttl.")
		}
	case ConfigTable:
		if t.TTL != "" {
			c.broken("table-ttl", where, "TTL is on for attribute "+t.TTL+": configuration may be deleted.", "Turn it off.")
		}
		if t.Stream != "NEW_AND_OLD_IMAGES" {
			c.broken("table-stream", where, "its stream is "+orDefault(t.Stream, "off")+": the reconciler sees no change.", "Turn it on with NEW_AND_OLD_IMAGES.")
		}
		if !t.Recovery && !t.Unrecovery {
			c.risky("table-recovery", where, "it has no point-in-time recovery.", "Turn it on.")
		}
		if !t.Protected {
			c.risky("table-protection", where, "it can be deleted at a stroke.", "Turn deletion protection on.")
		}
	case StrictTable:
		if t.TTL != "" {
			c.broken("table-ttl", where, "TTL is on, which a strongly consistent table cannot have.", "Turn it off; the reconciler sweeps it.")
		}
		if !t.Strong {
			c.broken("table-strict", where, "it is not strongly consistent across Regions: limits with consistency strict would over-admit.", "Make it anew with multi-Region strong consistency.")
		}
	}
}

// Lag is how long writes of one Region take to be seen in another.
type Lag struct {
	Table, From, To string
	Average         time.Duration
	None            bool // nothing was replicated lately
}

// LateFrom is the lag above which `weir doctor` speaks of it, as the alarm does.
const LateFrom = 2 * time.Second

func (c *check) lag(d Deployment) {
	for _, l := range d.Lag {
		where := fmt.Sprintf("table %s from %s to %s", l.Table, l.From, l.To)
		switch {
		case l.None:
			c.broken("replication-stalled", where, "nothing was replicated in the last minutes, although there is a heartbeat every minute.", "See docs/operations.md, replication-stalled.")
		case l.Average > LateFrom:
			c.risky("replication-late", where, fmt.Sprintf("replication takes %v.", l.Average), "What a tenant may get too much grows with it: docs/operations.md, replication-late.")
		}
	}
}

// Home is where configuration is written, and who is alive.
type Home struct {
	Region string                   // "" if nobody has written yet
	Beats  map[string]time.Duration // age of each Region's last heartbeat
}

// beatsEvery is how old a heartbeat may be; there is one a minute.
const beatsEvery = 3 * time.Minute

func (c *check) home(d Deployment) {
	if d.Home == nil {
		return
	}
	switch h := d.Home; {
	case h.Region == "":
		c.risky("home", "config table", "nothing has been written to it: there are no plans, and every request is refused.", "Write a plan: `weir plan apply`.")
	case !slices.Contains(d.Regions, h.Region):
		c.broken("home", "config table", "its home is "+h.Region+", which is not among "+strings.Join(d.Regions, ", ")+": nobody can write.", "Move it: `weir home move`.")
	}
	for _, r := range d.Regions {
		switch age, ok := d.Home.Beats[r]; {
		case !ok:
			c.broken("heartbeat", "reconciler in "+r, "it has never been heard of.", "Is its schedule enabled, and what does its log say?")
		case age > beatsEvery:
			c.broken("heartbeat", "reconciler in "+r, fmt.Sprintf("it was last heard of %v ago.", age.Truncate(time.Second)), "Is its schedule enabled, and what does its log say?")
		}
	}
}
