package ddbstore

// clock gives a change its stamp: it is a hybrid logical clock, kept in one item,
// which has the last stamp. The writer's own clock is tried first; where that is
// behind, the item says so in refusing it, and nothing has to be read.
type clock struct {
	floor int64 // the least the stamp may be
}

// next returns the stamp to try: even, for those who mark what a schedule has made
// of a change with the last bit.
func (c *clock) next() int64 { return max(2, c.floor+c.floor&1) }

// action moves the table's clock to stamp, unless it is there or beyond.
func (c *clock) action(cfg *Config, stamp int64) action {
	it := keyed(item{attrStamp: num(stamp)}, metaKey, clockKey)
	return cfg.putIf(it, "attribute_not_exists(pk) OR stamp < :stamp", item{":stamp": num(stamp)}, func(found item) error {
		d := decoder{it: found}
		c.floor = max(c.floor, d.number(attrStamp)+1)
		return d.err
	})
}
