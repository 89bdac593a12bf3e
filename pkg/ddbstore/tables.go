package ddbstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// CreateTables creates the two tables in one Region, without replicas, and waits
// until they can be used. What exists already is left as it is. It is for
// development and tests: production tables are global, protected, and made by
// the deployment.
func CreateTables(ctx context.Context, client *dynamodb.Client, buckets, config string) error {
	if err := createTable(ctx, client, &dynamodb.CreateTableInput{TableName: &buckets}); err != nil {
		return err
	}
	if err := expire(ctx, client, buckets); err != nil {
		return err
	}
	return createTable(ctx, client, &dynamodb.CreateTableInput{
		TableName: &config,
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled:  aws.Bool(true),
			StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	})
}

// CreateStrictTable creates a strict table as CreateTables does the others: in
// one Region, where every table is strongly consistent. It has no TTL, like one
// with multi-Region strong consistency, which cannot have any.
func CreateStrictTable(ctx context.Context, client *dynamodb.Client, name string) error {
	return createTable(ctx, client, &dynamodb.CreateTableInput{TableName: &name})
}

func createTable(ctx context.Context, client *dynamodb.Client, in *dynamodb.CreateTableInput) error {
	in.BillingMode = types.BillingModePayPerRequest
	in.AttributeDefinitions = []types.AttributeDefinition{
		{AttributeName: aws.String(partitionKey), AttributeType: types.ScalarAttributeTypeS},
		{AttributeName: aws.String(sortKey), AttributeType: types.ScalarAttributeTypeS},
	}
	in.KeySchema = []types.KeySchemaElement{
		{AttributeName: aws.String(partitionKey), KeyType: types.KeyTypeHash},
		{AttributeName: aws.String(sortKey), KeyType: types.KeyTypeRange},
	}
	_, err := client.CreateTable(ctx, in)
	var exists *types.ResourceInUseException
	if err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("create table %s: %w", *in.TableName, err)
	}
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 50*time.Millisecond, 2*time.Second
	})
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: in.TableName}, 2*time.Minute); err != nil {
		return fmt.Errorf("wait for table %s: %w", *in.TableName, err)
	}
	return nil
}

// expire makes the table's items end at their TTL.
func expire(ctx context.Context, client *dynamodb.Client, table string) error {
	now, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &table})
	if err != nil {
		return fmt.Errorf("read TTL of table %s: %w", table, err)
	}
	if d := now.TimeToLiveDescription; d != nil && d.TimeToLiveStatus == types.TimeToLiveStatusEnabled {
		return nil // AWS refuses to enable it twice
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: &table,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String(attrTTL),
			Enabled:       aws.Bool(true),
		},
	})
	if err != nil {
		return fmt.Errorf("enable TTL on table %s: %w", table, err)
	}
	return nil
}
