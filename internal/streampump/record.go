package streampump

import (
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// Record is one record, in the form that a function gets it.
type Record struct {
	Sequence string
	At       int64 // when the write was made, ns since the Unix epoch, in whole seconds
	JSON     json.RawMessage
}

// Event returns the event of a batch.
func Event(records []Record) ([]byte, error) {
	raw := make([]json.RawMessage, len(records))
	for i, r := range records {
		raw[i] = r.JSON
	}
	return json.Marshal(map[string]any{"Records": raw})
}

// recordOf converts a record of the streams API. The two forms differ in how
// attribute values are written and in the case of a few names.
func recordOf(rec streams.Record, arn, region string) (Record, error) {
	d := rec.Dynamodb
	if d == nil || d.SequenceNumber == nil {
		return Record{}, fmt.Errorf("a record without a sequence number")
	}
	change := map[string]any{
		"SequenceNumber": *d.SequenceNumber,
		"StreamViewType": string(d.StreamViewType),
		"SizeBytes":      aws.ToInt64(d.SizeBytes),
	}
	r := Record{Sequence: *d.SequenceNumber}
	if d.ApproximateCreationDateTime != nil {
		change["ApproximateCreationDateTime"] = d.ApproximateCreationDateTime.Unix()
		r.At = d.ApproximateCreationDateTime.Unix() * 1e9
	}
	for name, image := range map[string]map[string]streams.AttributeValue{"Keys": d.Keys, "NewImage": d.NewImage, "OldImage": d.OldImage} {
		if image == nil {
			continue
		}
		values, err := valuesOf(image)
		if err != nil {
			return Record{}, fmt.Errorf("record %s: %w", r.Sequence, err)
		}
		change[name] = values
	}
	var err error
	r.JSON, err = json.Marshal(map[string]any{
		"eventID":        aws.ToString(rec.EventID),
		"eventName":      string(rec.EventName),
		"eventVersion":   aws.ToString(rec.EventVersion),
		"eventSource":    "aws:dynamodb",
		"eventSourceARN": arn,
		"awsRegion":      region,
		"dynamodb":       change,
	})
	return r, err
}

func valuesOf(image map[string]streams.AttributeValue) (map[string]any, error) {
	out := make(map[string]any, len(image))
	for name, v := range image {
		value, err := valueOf(v)
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", name, err)
		}
		out[name] = value
	}
	return out, nil
}

func valueOf(v streams.AttributeValue) (map[string]any, error) {
	switch v := v.(type) {
	case *streams.AttributeValueMemberS:
		return map[string]any{"S": v.Value}, nil
	case *streams.AttributeValueMemberN:
		return map[string]any{"N": v.Value}, nil
	case *streams.AttributeValueMemberB:
		return map[string]any{"B": v.Value}, nil
	case *streams.AttributeValueMemberBOOL:
		return map[string]any{"BOOL": v.Value}, nil
	case *streams.AttributeValueMemberNULL:
		return map[string]any{"NULL": v.Value}, nil
	case *streams.AttributeValueMemberSS:
		return map[string]any{"SS": v.Value}, nil
	case *streams.AttributeValueMemberNS:
		return map[string]any{"NS": v.Value}, nil
	case *streams.AttributeValueMemberBS:
		return map[string]any{"BS": v.Value}, nil
	case *streams.AttributeValueMemberM:
		m, err := valuesOf(v.Value)
		return map[string]any{"M": m}, err
	case *streams.AttributeValueMemberL:
		l := make([]any, len(v.Value))
		for i, e := range v.Value {
			value, err := valueOf(e)
			if err != nil {
				return nil, err
			}
			l[i] = value
		}
		return map[string]any{"L": l}, nil
	}
	return nil, fmt.Errorf("a %T", v)
}
