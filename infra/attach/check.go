package attach

import "github.com/aws/constructs-go/constructs/v10"

func checkAtSynthesis(constructs.Construct) {}
