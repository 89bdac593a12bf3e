// Package e2e_test deploys Weir as an operator would, with the CDK's and SAM's own
// command lines, into an emulated AWS (MiniStack), and then uses it from outside:
// real HTTP through its API Gateway, plans by `weir plan apply`, `weir doctor`.
//
//	make e2e
//
// What the emulator lacks, and what is done instead:
//
//   - It makes no replicas of an AWS::DynamoDB::GlobalTable; the test asks for them
//     with UpdateTable, and from then on it replicates, at once.
//   - It does not fill context.authorizer.* into gateway responses and mock
//     integrations. So the emulator shows status, fixed headers and that the rest is
//     mapped; the same synthesised template in devgateway, before the deployed
//     function, shows the values (that is `weir dev --template`).
//   - It runs no mapping templates before a Lambda function, so the event of the
//     health route is filled in by the test and given to the deployed function.
//   - It imports no OpenAPI methods for any verb, which is how template.yaml has its
//     routes; so that stack's requests go through devgateway to the deployed function.
//   - It knows no alarms on metric math: alarms are off (observability.alarms).
//   - It has no Route 53 health checks and no fault injection: the stacks global
//     (with a domain) and resilience are synthesised and checked, not deployed.
//   - It runs bootstraps on this machine, so they are built for it and not for arm64.
package e2e_test
