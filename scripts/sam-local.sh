#!/usr/bin/env bash
# sam build, sam local invoke and sam local start-lambda for real: the functions as built for deployment, in a
# container, the authorizer on the embedded store, with the events of events/. What it must answer is in test/sam/check.py.
#
# It uses the container engine that runs. Where none does and this is root on Linux, it starts a dockerd of its own, in
# a temporary folder and without touching the firewall, and stops it at the end; under CI=true it installs Debian's
# docker.io first if there is no dockerd. Where no engine can be had it says so and succeeds.
#
# Inputs:
#   WEIR_REQUIRE_DOCKER=1  fail instead where there is no engine
#   WEIR_SAM_IMAGE         base image to run in, already on the engine (default: see base_image)
#   TOOLS                  where the tools are (default .tools)
set -euo pipefail
cd "$(dirname "$0")/.."

TOOLS=${TOOLS:-$PWD/.tools}
export PATH=$TOOLS/bin:$PATH
ARCH=$(uname -m)
[[ $ARCH != aarch64 ]] || ARCH=arm64
export ARCH

# Never ask a cloud for anything: a Region and credentials that mean nothing, and no metadata service.
export AWS_DEFAULT_REGION=eu-west-1 AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_EC2_METADATA_DISABLED=true
unset AWS_PROFILE AWS_SESSION_TOKEN

work=$(mktemp -d)
engine_pid=''
bridge_was_there=''

say() { printf 'sam-local: %s\n' "$*"; }

cleanup() {
  local status=$?
  trap - EXIT
  if [[ -n $engine_pid ]]; then
    kill "$engine_pid" 2>/dev/null || true
    wait "$engine_pid" 2>/dev/null || true
    [[ -n $bridge_was_there ]] || ip link delete docker0 2>/dev/null || true
  fi
  rm -rf "$work" || true
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# not_tested WHY: the banner, and success unless an engine is required.
not_tested() {
  {
    echo
    echo '!!! ======================================================================== !!!'
    echo '!!!  NOT TESTED: sam local                                                    !!!'
    echo '!!! ======================================================================== !!!'
    echo "!!!  $1"
    echo '!!!  The packaged authorizer was built but did not run in a Lambda container.'
    echo '!!!  Start Docker, or run as root on Debian with CI=true, and try again.'
    echo '!!! ======================================================================== !!!'
    echo
  } >&2
  [[ ${WEIR_REQUIRE_DOCKER:-} != 1 ]] || exit 1
  exit 0
}

engine_runs() { command -v docker >/dev/null && docker version >/dev/null 2>&1; }

install_engine() {
  [[ ${CI:-} == true ]] && command -v apt-get >/dev/null || return 1
  say 'installing docker.io'
  {
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends docker.io
    # Newer Debian has the client in a package of its own.
    command -v docker || DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends docker-cli
  } >"$work/apt.log" 2>&1 || {
    tail -n 5 "$work/apt.log" >&2
    return 1
  }
}

# start_engine: a dockerd that leaves nothing behind. Published ports go through its user-space proxy, so it needs
# no firewall rule, and containers have no way out.
start_engine() {
  [[ $(uname -s) == Linux && $(id -u) == 0 ]] || return 1
  command -v dockerd >/dev/null || install_engine || return 1
  [[ ! -e /sys/class/net/docker0 ]] || bridge_was_there=yes
  say 'starting a dockerd'
  export DOCKER_HOST=unix://$work/docker.sock
  dockerd --host "$DOCKER_HOST" --data-root "$work/data" --exec-root "$work/exec" --pidfile "$work/dockerd.pid" \
    --iptables=false --ip-forward=false --ip-masq=false >"$work/dockerd.log" 2>&1 </dev/null &
  engine_pid=$!
  for _ in $(seq 60); do
    if engine_runs; then return 0; fi
    kill -0 "$engine_pid" 2>/dev/null || break
    sleep 0.5
  done
  tail -n 5 "$work/dockerd.log" >&2
  return 1
}

# stand_in TAG: a base image from Debian's static busybox, for where no image can be pulled. The bootstrap is static
# too; SAM's derived image needs a shell, mv and chmod. The root file system is kept, so that a later run needs no
# network.
stand_in() {
  local tar=$TOOLS/sam-base-$ARCH.tar root=$work/root command
  if [[ ! -f $tar ]]; then
    command -v apt-get >/dev/null || return 1
    (cd "$work" && { apt-get download busybox-static || { apt-get update && apt-get download busybox-static; }; }) \
      >"$work/apt.log" 2>&1 || return 1
    mkdir -p "$root"/{tmp,opt,var/task,etc,root}
    chmod 1777 "$root/tmp"
    dpkg-deb -x "$work"/busybox-static_*.deb "$root"
    [[ -e $root/bin/busybox ]] || ln -s /usr/bin/busybox "$root/bin/busybox"
    for command in sh mv chmod cp rm; do ln -s busybox "$root/bin/$command"; done
    rm -rf "${root:?}/usr/share"
    tar -C "$root" -cf "$tar.new" . && mv "$tar.new" "$tar"
  fi
  docker import --change 'WORKDIR /var/task' --change 'ENV PATH=/bin:/usr/bin' "$tar" "$1" >/dev/null
}

# base_image: sets sam_image to the options that name it. The real one if it is here, else a stand-in under a name of
# its own, which leaves the real name alone.
sam_image=()
base_image() {
  local real=public.ecr.aws/lambda/provided:al2023-$ARCH
  if [[ -n ${WEIR_SAM_IMAGE:-} ]]; then
    sam_image=(--invoke-image "$WEIR_SAM_IMAGE")
  elif docker image inspect "$real" >/dev/null 2>&1; then
    say "base image: $real"
  else
    say 'base image: a stand-in made of busybox'
    stand_in weir-sam-base:al2023 || return 1
    sam_image=(--invoke-image weir-sam-base:al2023)
  fi
}

say "sam build, $ARCH"
make sam-build ARCH="$ARCH" >"$work/build.log" 2>&1 || {
  cat "$work/build.log" >&2
  exit 1
}

engine_runs || start_engine || not_tested 'No container engine runs, and none could be started.'
base_image || not_tested "No base image: docker pull public.ecr.aws/lambda/provided:al2023-$ARCH"

python3 test/sam/check.py --parameter-overrides "Architecture=$ARCH" --skip-pull-image "${sam_image[@]}"
