// Package data is the stack of the tables. It is deployed once, in the primary
// Region; DynamoDB makes the replicas in the others.
//
// The tables have fixed names and everybody else refers to them by literal ARNs, so
// that no stack exports anything to another: an export would tie the order of
// updates, and cross-Region ones need functions and parameters of their own.
package data

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"weir/infra/config"
)

// NewStack adds the stack to an app.
func NewStack(scope constructs.Construct, c *config.Config) awscdk.Stack {
	stack := awscdk.NewStack(scope, jsii.String("data"), &awscdk.StackProps{
		StackName:             jsii.String(c.Name + "-data"),
		Description:           jsii.String("Weir: the tables, with a replica in every Region."),
		Env:                   &awscdk.Environment{Account: jsii.String(c.Account), Region: jsii.String(c.Primary().Name)},
		TerminationProtection: jsii.Bool(c.Tables.Protect),
	})
	buckets(stack, c)
	configuration(stack, c)
	if c.Strict != nil {
		strict(stack, c)
	}
	return stack
}

// common returns what the tables have in common.
func common(c *config.Config, name string) *awsdynamodb.TablePropsV2 {
	return &awsdynamodb.TablePropsV2{
		TableName:          jsii.String(name),
		PartitionKey:       &awsdynamodb.Attribute{Name: jsii.String("pk"), Type: awsdynamodb.AttributeType_STRING},
		SortKey:            &awsdynamodb.Attribute{Name: jsii.String("sk"), Type: awsdynamodb.AttributeType_STRING},
		Billing:            awsdynamodb.Billing_OnDemand(nil),
		Encryption:         awsdynamodb.TableEncryptionV2_AwsManagedKey(),
		DeletionProtection: jsii.Bool(c.Tables.Protect),
		RemovalPolicy:      removal(c),
		// On with one Region too: CloudFormation cannot turn the stream on and add the second Region in one update.
		DynamoStream: awsdynamodb.StreamViewType_NEW_AND_OLD_IMAGES,
		Replicas:     replicas(c),
	}
}

// removal keeps tables when their stack is deleted, and whatever an update replaces.
func removal(c *config.Config) awscdk.RemovalPolicy {
	if c.Tables.Protect {
		return awscdk.RemovalPolicy_RETAIN
	}
	return awscdk.RemovalPolicy_DESTROY
}

// replicas returns those beside the primary Region's, which the table has itself.
func replicas(c *config.Config) *[]*awsdynamodb.ReplicaTableProps {
	var all []*awsdynamodb.ReplicaTableProps
	for _, r := range c.Regions[1:] {
		all = append(all, &awsdynamodb.ReplicaTableProps{
			Region:             jsii.String(r.Name),
			DeletionProtection: jsii.Bool(c.Tables.Protect),
		})
	}
	if all == nil {
		return nil
	}
	return &all
}

// buckets is the table of rows: hot, and worth nothing once they are full again.
func buckets(stack awscdk.Stack, c *config.Config) {
	p := common(c, c.BucketsTable())
	p.TimeToLiveAttribute = jsii.String("ttl")
	awsdynamodb.NewTableV2(stack, jsii.String("Buckets"), p)
}

// configuration is the table of plans, tenants, hashed credentials and audit:
// nothing of it can be recomputed.
func configuration(stack awscdk.Stack, c *config.Config) {
	p := common(c, c.ConfigTable())
	p.PointInTimeRecoverySpecification = &awsdynamodb.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: jsii.Bool(true)}
	awsdynamodb.NewTableV2(stack, jsii.String("Config"), p)
}

// strict is the table of limits that are exact across Regions. DynamoDB allows no
// TTL with multi-Region strong consistency, though the CDK would synthesise one;
// the reconciler sweeps it.
func strict(stack awscdk.Stack, c *config.Config) {
	p := common(c, c.StrictTable())
	p.MultiRegionConsistency = awsdynamodb.MultiRegionConsistency_STRONG
	if c.Strict.Witness != "" {
		p.WitnessRegion = jsii.String(c.Strict.Witness)
	}
	awsdynamodb.NewTableV2(stack, jsii.String("Strict"), p)
}
