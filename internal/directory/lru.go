package directory

import "container/list"

// lru is a map that holds at most max entries and forgets the one unused for
// longest. It is not safe for concurrent use.
type lru[K comparable, V any] struct {
	max     int
	entries map[K]*list.Element // of node[K, V]
	order   *list.List          // the last used first
}

type node[K comparable, V any] struct {
	key   K
	value V
}

func newLRU[K comparable, V any](most int) *lru[K, V] {
	return &lru[K, V]{max: most, entries: make(map[K]*list.Element), order: list.New()}
}

// get returns the value of k, to be changed in place, and counts as a use; nil if
// there is none.
func (l *lru[K, V]) get(k K) *V {
	e := l.entries[k]
	if e == nil {
		return nil
	}
	l.order.MoveToFront(e)
	return &e.Value.(*node[K, V]).value
}

// peek is get without being a use.
func (l *lru[K, V]) peek(k K) *V {
	e := l.entries[k]
	if e == nil {
		return nil
	}
	return &e.Value.(*node[K, V]).value
}

func (l *lru[K, V]) put(k K, v V) {
	if old := l.get(k); old != nil {
		*old = v
		return
	}
	if len(l.entries) >= l.max {
		last := l.order.Back()
		delete(l.entries, last.Value.(*node[K, V]).key)
		l.order.Remove(last)
	}
	l.entries[k] = l.order.PushFront(&node[K, V]{k, v})
}

func (l *lru[K, V]) remove(k K) {
	if e := l.entries[k]; e != nil {
		l.order.Remove(e)
		delete(l.entries, k)
	}
}
