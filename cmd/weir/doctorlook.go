package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/internal/doctor"
)

// look describes what is deployed under a name, for the doctor.
func (s *session) look(ctx context.Context, name string, regions, open []string) (doctor.Deployment, error) {
	d := doctor.Deployment{Regions: regions}
	for _, region := range regions {
		at := regional{session: s, cfg: s.aws.Copy(), region: region, name: name, regions: regions, open: open}
		at.cfg.Region = region
		s.note("Looking at %s ...", region)
		part, err := at.part(ctx)
		if err != nil {
			return d, fmt.Errorf("look at %s: %w", region, err)
		}
		d.Parts = append(d.Parts, part)
		tables, err := at.tables(ctx, part)
		if err != nil {
			return d, fmt.Errorf("look at the tables in %s: %w", region, err)
		}
		d.Tables = append(d.Tables, tables...)
		lags, err := at.lags(ctx, part)
		if err != nil {
			return d, fmt.Errorf("look at replication from %s: %w", region, err)
		}
		d.Lag = append(d.Lag, lags...)
	}
	home, err := s.homeOf(ctx, regions)
	if err != nil {
		return d, err
	}
	d.Home = home
	return d, nil
}

// regional looks at one Region.
type regional struct {
	*session
	cfg     aws.Config
	region  string
	name    string
	regions []string
	open    []string
}

// part describes the functions, and what calls them.
func (r regional) part(ctx context.Context) (doctor.Part, error) {
	p := doctor.Part{Region: r.region}
	var err error
	if p.Authorizer, err = r.function(ctx, r.name+"-authorizer"); err != nil {
		return p, err
	}
	if p.Reconciler, err = r.function(ctx, r.name+"-reconciler"); err != nil {
		return p, err
	}
	if p.Reconciler != nil {
		if p.Sources, err = r.sources(ctx, r.name+"-reconciler"); err != nil {
			return p, err
		}
	}
	p.APIs, err = r.apis(ctx)
	return p, err
}

// tables describes the tables that the authorizer is told to use.
func (r regional) tables(ctx context.Context, p doctor.Part) ([]doctor.Table, error) {
	names := map[string]string{doctor.BucketsTable: r.names.buckets, doctor.ConfigTable: r.names.config, doctor.StrictTable: r.names.strict}
	if p.Authorizer != nil {
		names[doctor.BucketsTable] = orElse(p.Authorizer.Env["WEIR_BUCKETS_TABLE"], names[doctor.BucketsTable])
		names[doctor.StrictTable] = orElse(p.Authorizer.Env["WEIR_STRICT_TABLE"], names[doctor.StrictTable])
	}
	var all []doctor.Table
	for _, role := range []string{doctor.BucketsTable, doctor.ConfigTable, doctor.StrictTable} {
		if names[role] == "" {
			continue
		}
		t, err := r.table(ctx, names[role], role)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func (r regional) table(ctx context.Context, name, role string) (doctor.Table, error) {
	client, t := r.client(r.region), doctor.Table{Name: name, Role: role, Region: r.region}
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		t.Missing = true
		return t, nil
	} else if err != nil {
		return t, err
	}
	is := out.Table
	kinds := map[string]types.ScalarAttributeType{}
	for _, a := range is.AttributeDefinitions {
		kinds[*a.AttributeName] = a.AttributeType
	}
	var keys []string
	for _, k := range is.KeySchema {
		keys = append(keys, *k.AttributeName+" "+string(kinds[*k.AttributeName]))
	}
	t.Keys = strings.Join(keys, ", ")
	t.Protected = aws.ToBool(is.DeletionProtectionEnabled)
	t.Strong = is.MultiRegionConsistency == types.MultiRegionConsistencyStrong
	if is.StreamSpecification != nil && aws.ToBool(is.StreamSpecification.StreamEnabled) {
		t.Stream = string(is.StreamSpecification.StreamViewType)
	}
	t.Replicas = []string{r.region}
	for _, replica := range is.Replicas {
		if other := aws.ToString(replica.RegionName); other != r.region {
			t.Replicas = append(t.Replicas, other)
		}
	}
	ttl, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil {
		return t, err
	}
	if d := ttl.TimeToLiveDescription; d != nil && (d.TimeToLiveStatus == types.TimeToLiveStatusEnabled || d.TimeToLiveStatus == types.TimeToLiveStatusEnabling) {
		t.TTL = aws.ToString(d.AttributeName)
	}
	backups, err := client.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &name})
	if err != nil {
		t.Unrecovery = true // an emulator's table, or nobody's to ask
		return t, nil
	}
	if d := backups.ContinuousBackupsDescription; d != nil && d.PointInTimeRecoveryDescription != nil {
		t.Recovery = d.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus == types.PointInTimeRecoveryStatusEnabled
	}
	return t, nil
}

// lagWindow is how far back replication is looked at. The config table has a write
// a minute, so within it there is something to see.
const lagWindow = 10 * time.Minute

// lags describes how long the tables' writes take from here to the other Regions.
func (r regional) lags(ctx context.Context, p doctor.Part) ([]doctor.Lag, error) {
	if r.local { // there are no metrics of an engine on this machine
		return nil, nil
	}
	client, now := cloudwatch.NewFromConfig(r.cfg), time.Unix(0, r.now())
	var all []doctor.Lag
	for _, other := range r.regions {
		if other == r.region {
			continue
		}
		for _, table := range []string{r.names.config, r.names.buckets} {
			if table == "" {
				continue
			}
			out, err := client.GetMetricStatistics(ctx, &cloudwatch.GetMetricStatisticsInput{
				Namespace:  aws.String("AWS/DynamoDB"),
				MetricName: aws.String("ReplicationLatency"),
				Dimensions: []cwtypes.Dimension{
					{Name: aws.String("TableName"), Value: &table}, {Name: aws.String("ReceivingRegion"), Value: aws.String(other)},
				},
				StartTime:  aws.Time(now.Add(-lagWindow)),
				EndTime:    aws.Time(now),
				Period:     aws.Int32(int32(lagWindow / time.Second)),
				Statistics: []cwtypes.Statistic{cwtypes.StatisticAverage},
			})
			if err != nil {
				return nil, err
			}
			l := doctor.Lag{Table: table, From: r.region, To: other, None: len(out.Datapoints) == 0 && table == r.names.config}
			if len(out.Datapoints) > 0 {
				l.Average = time.Duration(aws.ToFloat64(out.Datapoints[0].Average) * float64(time.Millisecond))
			}
			all = append(all, l)
		}
	}
	return all, nil
}

// homeOf describes where the configuration is written, and whose reconcilers live.
func (s *session) homeOf(ctx context.Context, regions []string) (*doctor.Home, error) {
	c := s.config()
	region, err := c.Home(ctx)
	if err != nil {
		return nil, err
	}
	h := &doctor.Home{Region: region, Beats: map[string]time.Duration{}}
	beats, err := c.Heartbeats(ctx, regions)
	if err != nil {
		return nil, err
	}
	for _, b := range beats {
		if b.At != 0 && slices.Contains(regions, b.Region) {
			h.Beats[b.Region] = time.Duration(max(0, s.now()-b.At))
		}
	}
	return h, nil
}
