package settings

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
)

func TestLogger(t *testing.T) {
	var b bytes.Buffer
	log := Settings{LogLevel: slog.LevelWarn}.Logger(&b)
	log.Info("not this")
	log.Warn("this", "requestId", "r-1")
	var line map[string]string
	if err := json.Unmarshal(b.Bytes(), &line); err != nil {
		t.Fatalf("%v in %s", err, &b)
	}
	if line["level"] != "WARN" || line["message"] != "this" || line["requestId"] != "r-1" || line["timestamp"] == "" {
		t.Errorf("got %v", line)
	}
}
