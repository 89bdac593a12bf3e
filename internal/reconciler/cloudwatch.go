package reconciler

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

// describeAlarms is the one call that CloudWatch needs of a client.
type describeAlarms interface {
	DescribeAlarms(context.Context, *cloudwatch.DescribeAlarmsInput, ...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmsOutput, error)
}

// CloudWatch is Alarms of the Region that a client talks to.
type CloudWatch struct {
	Client describeAlarms
	Region string
}

var _ Alarms = CloudWatch{}

// On reports whether a metric alarm or a composite one is in ALARM. One that has
// not enough data is not.
func (c CloudWatch) On(ctx context.Context, alarm string) (bool, error) {
	name, err := c.name(alarm)
	if err != nil {
		return false, err
	}
	out, err := c.Client.DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{
		AlarmNames: []string{name},
		AlarmTypes: []types.AlarmType{types.AlarmTypeMetricAlarm, types.AlarmTypeCompositeAlarm},
	})
	if err != nil {
		return false, fmt.Errorf("alarm %s: %w", alarm, err)
	}
	for _, a := range out.MetricAlarms {
		return a.StateValue == types.StateValueAlarm, nil
	}
	for _, a := range out.CompositeAlarms {
		return a.StateValue == types.StateValueAlarm, nil
	}
	return false, fmt.Errorf("alarm %s: there is none of that name in %s: create it, or take it out of the rollout", alarm, c.Region)
}

// name returns the name of an alarm that may be given as an ARN:
// arn:aws:cloudwatch:REGION:ACCOUNT:alarm:NAME.
func (c CloudWatch) name(alarm string) (string, error) {
	if !strings.HasPrefix(alarm, "arn:") {
		return alarm, nil
	}
	part := strings.SplitN(alarm, ":", 7)
	switch {
	case len(part) < 7 || part[2] != "cloudwatch" || part[5] != "alarm" || part[6] == "":
		return "", fmt.Errorf("alarm %s: that is no ARN of a CloudWatch alarm", alarm)
	case part[3] != c.Region:
		return "", fmt.Errorf("alarm %s: it is in %s, and rollouts go on in %s, the home Region: name an alarm there", alarm, part[3], c.Region)
	}
	return part[6], nil
}
