"""What the packaged functions must answer in a Lambda container.

Runs `sam local invoke`, a fresh container for each call, and `sam local start-lambda`, one warm container for all.
The arguments are handed on to both. Called by scripts/sam-local.sh, which has built the functions and started an
engine.
"""

import contextlib
import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

FUNCTION = "AuthorizerFunction"
RECONCILER = "ReconcilerFunction"
SCHEDULE = "events/reconciler-schedule.json"
GOOD = "events/apigw-custom-auth-request-type-request.json"
BAD_KEY = "events/apigw-custom-auth-request-type-request-bad-key.json"
SUSPENDED = "events/apigw-custom-auth-request-type-request-suspended.json"

# Its caller is on the slowest of the sample plans, one request a second per address after a burst of 5: calls that
# take a fifth of a second, as they do here under load, still exceed it.
NO_KEY = "events/apigw-custom-auth-request-type-request-no-key.json"
FLOOD = 200

# What template.yaml maps from. All of them, always, and as strings: an unresolved variable is undefined behaviour.
CONTEXT = {
    "tenant", "plan", "limited", "code", "message", "retryAfter", "limit", "remaining", "reset", "scope", "reason",
    "rateLimit", "rateLimitPolicy",
}


def fail(what):
    sys.exit(f"sam-local: FAILED: {what}")


def ok(what):
    print(f"sam-local: ok: {what}", flush=True)


def check(condition, wanted, got):
    if not condition:
        fail(f"want {wanted}; got {json.dumps(got)}")


def effect_of(answer):
    check("policyDocument" in answer, "a policy", answer)
    return answer["policyDocument"]["Statement"][0]["Effect"]


def context_of(answer, effect):
    check(effect_of(answer) == effect, effect, answer)
    context = answer["context"]
    check(CONTEXT <= set(context), f"a context with all of {sorted(CONTEXT)}", context)
    check(all(isinstance(v, str) for v in context.values()), "a context of strings", context)
    return context


def load(event):
    with open(event, "rb") as f:
        return f.read()


def invoke(event, options, function=FUNCTION):
    run = subprocess.run(
        ["sam", "local", "invoke", function, "--event", event, *options],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180,
    )
    try:
        return json.loads(run.stdout)
    except ValueError:
        fail(f"sam local invoke: status {run.returncode}\n{run.stderr}\n{run.stdout}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def warm(options):
    """Yields a function that sends an event to one warm container and returns its answer."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/2015-03-31/functions/{FUNCTION}/invocations"

    def call(body):
        with urllib.request.urlopen(urllib.request.Request(url, body), timeout=30) as r:
            return json.load(r)

    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen(
            ["sam", "local", "start-lambda", "--port", str(port), *options],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )
        try:
            deadline = time.monotonic() + 120
            while True:
                with socket.socket() as s:
                    if s.connect_ex(("127.0.0.1", port)) == 0:
                        break
                if server.poll() is not None or time.monotonic() > deadline:
                    log.seek(0)
                    fail(f"sam local start-lambda does not listen\n{log.read()}")
                time.sleep(0.2)
            try:
                yield call
            except (OSError, ValueError) as e:
                log.seek(0)
                fail(f"sam local start-lambda: {e}\n{log.read()}")
        finally:
            server.terminate()
            try:
                server.wait(60)
            except subprocess.TimeoutExpired:
                server.kill()


def main():
    options = sys.argv[1:]

    context = context_of(invoke(GOOD, options), "Allow")
    check(context["limited"] == "false" and context["retryAfter"] == "0", "not limited, no wait", context)
    ok("a good key: Allow")

    answer = invoke(BAD_KEY, options)
    check(answer.get("errorMessage") == "Unauthorized", "the error that API Gateway turns into a 401", answer)
    ok("a wrong key: Unauthorized")

    # It has no tables here: the container knows nobody but itself.
    answer = invoke(SCHEDULE, options, RECONCILER)
    check("config table cannot be used" in answer.get("errorMessage", ""), "an error that says what is missing", answer)
    ok("the reconciler without tables: says so")

    with warm(options) as call:
        context = context_of(call(load(SUSPENDED)), "Deny")
        check(context["code"] == "tenant_suspended", "tenant_suspended", context)
        ok("a suspended tenant: Deny")

        body = load(NO_KEY)
        for calls in range(1, FLOOD + 1):
            answer = call(body)
            if effect_of(answer) == "Deny":
                break
        context = context_of(answer, "Deny")
        check(context["limited"] == "true" and int(context["retryAfter"]) >= 1, "limited, and a wait", context)
        ok(f"a flood: Deny at call {calls}, retry after {context['retryAfter']} s")


if __name__ == "__main__":
    main()
