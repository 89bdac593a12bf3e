package observability

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"weir/infra/config"
	"weir/internal/telemetry/metric"
)

// series is one metric of CloudWatch with its dimensions.
type series struct {
	namespace, name string
	dimensions      []string // name, value, name, value
	statistic       string
}

// of returns a metric of Weir's own in a Region, with further dimensions.
func of(c *config.Config, m metric.Metric, region string, more ...string) series {
	return series{c.Namespace(metric.Namespace), m.Name, append([]string{string(metric.Region), region}, more...), m.Type.Statistic()}
}

func aws(service, name, statistic string, dimensions ...string) series {
	return series{"AWS/" + service, name, dimensions, statistic}
}

// alarm is one alarm. It is raised if in late of the last minutes the value was
// beyond bound.
type alarm struct {
	id         string // a heading in docs/operations.md
	to         string // the other Region that it is about, if it is about one
	means      string
	expression string // of the metrics m1, m2 ...; "" for m1 itself
	metrics    []series
	bound      float64
	below      bool // raised at or below bound, not at or above
	late       int
	minutes    int
	silence    bool // no data is as bad
}

// add adds the alarm. Its name is fixed, so that experiments and people can refer
// to it.
func (a alarm) add(s awscdk.Stack, c *config.Config, topic *string) {
	p := &awscloudwatch.CfnAlarmProps{
		AlarmName:          jsii.String(AlarmName(c, a.name())),
		AlarmDescription:   jsii.String(a.means + " What to do: docs/operations.md, " + a.id + "."),
		Threshold:          jsii.Number(a.bound),
		ComparisonOperator: jsii.String("GreaterThanOrEqualToThreshold"),
		EvaluationPeriods:  jsii.Number(a.minutes),
		DatapointsToAlarm:  jsii.Number(a.late),
		TreatMissingData:   jsii.String("notBreaching"),
		AlarmActions:       &[]any{topic},
		OkActions:          &[]any{topic},
	}
	if a.below {
		p.ComparisonOperator = jsii.String("LessThanOrEqualToThreshold")
	}
	if a.silence {
		p.TreatMissingData = jsii.String("breaching")
	}
	if a.expression == "" {
		m := a.metrics[0]
		p.Namespace, p.MetricName, p.Dimensions = jsii.String(m.namespace), jsii.String(m.name), m.dimensionList()
		p.Period = jsii.Number(time.Minute.Seconds())
		if isPercentile(m.statistic) {
			p.ExtendedStatistic = jsii.String(m.statistic)
		} else {
			p.Statistic = jsii.String(m.statistic)
		}
	} else {
		p.Metrics = a.queries()
	}
	awscloudwatch.NewCfnAlarm(s, jsii.String(a.name()), p)
}

// queries returns the metrics and the expression over them.
func (a alarm) queries() *[]any {
	var all []any
	for i, m := range a.metrics {
		all = append(all, &awscloudwatch.CfnAlarm_MetricDataQueryProperty{
			Id:         jsii.String(queryID(i)),
			ReturnData: jsii.Bool(false),
			MetricStat: &awscloudwatch.CfnAlarm_MetricStatProperty{
				Metric: &awscloudwatch.CfnAlarm_MetricProperty{
					Namespace: jsii.String(m.namespace), MetricName: jsii.String(m.name), Dimensions: m.dimensionList(),
				},
				Period: jsii.Number(time.Minute.Seconds()),
				Stat:   jsii.String(m.statistic),
			},
		})
	}
	all = append(all, &awscloudwatch.CfnAlarm_MetricDataQueryProperty{
		Id: jsii.String("value"), Expression: jsii.String(a.expression), ReturnData: jsii.Bool(true), Label: jsii.String(a.id),
	})
	return &all
}

func (m series) dimensionList() *[]any {
	var all []any
	for i := 0; i+1 < len(m.dimensions); i += 2 {
		all = append(all, &awscloudwatch.CfnAlarm_DimensionProperty{Name: jsii.String(m.dimensions[i]), Value: jsii.String(m.dimensions[i+1])})
	}
	return &all
}

func queryID(i int) string { return "m" + string(rune('1'+i)) }

func isPercentile(statistic string) bool { return statistic[0] == 'p' }

// name is the end of the alarm's name.
func (a alarm) name() string {
	if a.to == "" {
		return a.id
	}
	return a.id + "-" + a.to
}

// AlarmName returns the name of an alarm, the same in every Region.
func AlarmName(c *config.Config, id string) string { return c.Name + "-" + id }
