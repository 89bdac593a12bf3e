package regional

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/jsii-runtime-go"
)

// domain gives the API the name that it has in every Region. DNS is in the global
// stack, so that it can be changed while this Region cannot.
func (s region) domain(api awsapigateway.RestApi) {
	var certificate awscertificatemanager.ICertificate
	if arn := s.Domain.Certificates[s.Region.Name]; arn != "" {
		certificate = awscertificatemanager.Certificate_FromCertificateArn(s.Stack, jsii.String("Certificate"), jsii.String(arn))
	} else {
		zone := awsroute53.HostedZone_FromHostedZoneAttributes(s.Stack, jsii.String("Zone"), &awsroute53.HostedZoneAttributes{
			HostedZoneId: jsii.String(s.Domain.ZoneID), ZoneName: jsii.String(s.Domain.ZoneName),
		})
		certificate = awscertificatemanager.NewCertificate(s.Stack, jsii.String("Certificate"), &awscertificatemanager.CertificateProps{
			DomainName: jsii.String(s.Domain.Name),
			Validation: awscertificatemanager.CertificateValidation_FromDns(zone),
		})
	}
	api.AddDomainName(jsii.String("Domain"), &awsapigateway.DomainNameOptions{
		DomainName:     jsii.String(s.Domain.Name),
		Certificate:    certificate,
		EndpointType:   awsapigateway.EndpointType_REGIONAL,
		SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
	})
}
