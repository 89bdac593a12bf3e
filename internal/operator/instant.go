package operator

import (
	"encoding/json"
	"time"
)

// Instant is a time in ns since the Unix epoch. In JSON it is RFC 3339, and null
// if it is 0, which is never.
type Instant int64

// MarshalJSON implements json.Marshaler.
func (i Instant) MarshalJSON() ([]byte, error) {
	if i == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(time.Unix(0, int64(i)).UTC())
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *Instant) UnmarshalJSON(data []byte) error {
	var t *time.Time
	if err := json.Unmarshal(data, &t); err != nil || t == nil {
		*i = 0
		return err
	}
	*i = Instant(t.UnixNano())
	return nil
}

func (i Instant) String() string { return TimeText(int64(i)) }

// TimeText returns a time, in ns since the Unix epoch, for people.
func TimeText(ns int64) string {
	if ns == 0 {
		return "never"
	}
	return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05Z")
}
