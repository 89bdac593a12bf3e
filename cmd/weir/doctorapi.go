package main

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/apigateway/types"

	"weir/internal/doctor"
)

// apis describes the REST APIs of the Region that have the deployment's authorizer.
func (r regional) apis(ctx context.Context) ([]doctor.API, error) {
	client := apigateway.NewFromConfig(r.cfg)
	pages := apigateway.NewGetRestApisPaginator(client, &apigateway.GetRestApisInput{})
	var all []doctor.API
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, api := range page.Items {
			out, err := client.GetAuthorizers(ctx, &apigateway.GetAuthorizersInput{RestApiId: api.Id})
			if err != nil {
				return nil, err
			}
			for _, a := range out.Items {
				if !strings.Contains(aws.ToString(a.AuthorizerUri), ":function:"+r.name+"-authorizer") {
					continue
				}
				described, err := r.api(ctx, client, api, a)
				if err != nil {
					return nil, err
				}
				all = append(all, described)
			}
		}
	}
	return all, nil
}

func (r regional) api(ctx context.Context, client *apigateway.Client, api types.RestApi, authorizer types.Authorizer) (doctor.API, error) {
	d := doctor.API{Name: aws.ToString(api.Name), Region: r.region, Kind: doctor.REST, Open: r.open, Responses: map[string]doctor.Response{}}
	if authorizer.AuthorizerResultTtlInSeconds != nil {
		ttl := int(*authorizer.AuthorizerResultTtlInSeconds)
		d.TTL = &ttl
	}
	if s := aws.ToString(authorizer.IdentitySource); s != "" {
		d.Sources = strings.Split(s, ",")
	}
	if d.Invocable = aws.ToString(authorizer.AuthorizerCredentials) != ""; !d.Invocable {
		_, arn, _ := strings.Cut(aws.ToString(authorizer.AuthorizerUri), "/functions/")
		var err error
		if d.Invocable, err = r.invocable(ctx, strings.TrimSuffix(arn, "/invocations"), aws.ToString(api.Id)); err != nil {
			return d, err
		}
	}
	responses, err := client.GetGatewayResponses(ctx, &apigateway.GetGatewayResponsesInput{RestApiId: api.Id, Limit: aws.Int32(500)})
	if err != nil {
		return d, err
	}
	for _, g := range responses.Items {
		if g.DefaultResponse {
			continue
		}
		headers := map[string]string{}
		for k, v := range g.ResponseParameters {
			if name, ok := strings.CutPrefix(k, "gatewayresponse.header."); ok {
				headers[name] = v
			}
		}
		d.Responses[string(g.ResponseType)] = doctor.Response{Status: aws.ToString(g.StatusCode), Headers: headers, Body: g.ResponseTemplates["application/json"]}
	}
	resources := apigateway.NewGetResourcesPaginator(client, &apigateway.GetResourcesInput{RestApiId: api.Id, Embed: []string{"methods"}, Limit: aws.Int32(500)})
	for resources.HasMorePages() {
		page, err := resources.NextPage(ctx)
		if err != nil {
			return d, err
		}
		for _, resource := range page.Items {
			for verb, m := range resource.ResourceMethods {
				d.Methods = append(d.Methods, doctor.Method{
					Path: aws.ToString(resource.Path), Verb: verb, Has: aws.ToString(m.AuthorizationType),
					Limited: aws.ToString(m.AuthorizationType) == "CUSTOM" && aws.ToString(m.AuthorizerId) == aws.ToString(authorizer.Id),
				})
			}
		}
	}
	return d, nil
}
