package reconciler_test

import (
	"os"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"weir/internal/streampump"
)

// mapping returns the event source mapping of the template, as options of a pump.
func mapping(t testing.TB) streampump.Options {
	t.Helper()
	text, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources struct {
			ReconcilerStream struct {
				Type       string `yaml:"Type"`
				Properties struct {
					BatchSize                  int      `yaml:"BatchSize"`
					FunctionResponseTypes      []string `yaml:"FunctionResponseTypes"`
					BisectBatchOnFunctionError bool     `yaml:"BisectBatchOnFunctionError"`
					MaximumRetryAttempts       int      `yaml:"MaximumRetryAttempts"`
					MaximumRecordAgeInSeconds  int      `yaml:"MaximumRecordAgeInSeconds"`
					FilterCriteria             struct {
						Filters []struct {
							Pattern string `yaml:"Pattern"`
						} `yaml:"Filters"`
					} `yaml:"FilterCriteria"`
				} `yaml:"Properties"`
			} `yaml:"ReconcilerStream"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	p := template.Resources.ReconcilerStream.Properties
	if template.Resources.ReconcilerStream.Type != "AWS::Lambda::EventSourceMapping" || len(p.FilterCriteria.Filters) == 0 || p.MaximumRetryAttempts == 0 {
		t.Fatalf("the template has no ReconcilerStream, or not all of it: %+v", p)
	}
	o := streampump.Options{
		BatchSize: p.BatchSize, Bisect: p.BisectBatchOnFunctionError,
		Partial: len(p.FunctionResponseTypes) == 1 && p.FunctionResponseTypes[0] == "ReportBatchItemFailures",
		Retries: p.MaximumRetryAttempts, MaxAge: time.Duration(p.MaximumRecordAgeInSeconds) * time.Second,
	}
	for _, f := range p.FilterCriteria.Filters {
		o.Filters = append(o.Filters, f.Pattern)
	}
	return o
}
