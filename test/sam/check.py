"""What the packaged authorizer must answer in a Lambda container.

Runs `sam local invoke` and `sam local start-lambda`; the arguments are handed on to both. Called by
scripts/sam-local.sh, which has built the function and started an engine.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

FUNCTION = "AuthorizerFunction"
CONTEXT = {
    "tenant", "plan", "limited", "code", "message", "retryAfter", "limit", "remaining", "reset", "scope", "reason",
    "rateLimit", "rateLimitPolicy",
}
# A tenant of examples/plans.yaml on its smallest plan, and far more calls than that plan's burst of 10.
SMALL_KEY = "hooli-dev-key-1"
FLOOD = 500


def check(condition, what, got):
    if not condition:
        sys.exit(f"sam-local: FAILED: {what}; got {json.dumps(got)}")


def check_answer(answer, effect):
    statement = answer.get("policyDocument", {}).get("Statement", [{}])[0]
    check(statement.get("Effect") == effect, f"an answer that says {effect}", answer)
    context = answer["context"]
    check(CONTEXT <= set(context), f"a context with all of {sorted(CONTEXT)}", context)
    check(all(isinstance(v, str) for v in context.values()), "a context of strings", context)
    return context


def check_allow(answer):
    context = check_answer(answer, "Allow")
    check(context["limited"] == "false" and context["retryAfter"] == "0", "not limited, no wait", context)


def check_unauthorized(answer):
    check(answer.get("errorMessage") == "Unauthorized", "the error that API Gateway turns into a 401", answer)


def check_deny(answer):
    context = check_answer(answer, "Deny")
    check(context["limited"] == "true" and int(context["retryAfter"]) >= 1, "limited, and how long to wait", context)


def invoke(event, options):
    run = subprocess.run(
        ["sam", "local", "invoke", FUNCTION, "--event", event, *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=180,
    )
    try:
        return json.loads(run.stdout)
    except ValueError:
        sys.exit(f"sam-local: FAILED: sam local invoke, status {run.returncode}\n{run.stderr}\n{run.stdout}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def with_key(event, key):
    with open(event, "rb") as f:
        event = json.load(f)
    for headers, value in (("headers", key), ("multiValueHeaders", [key])):
        names = [name for name in event[headers] if name.lower() == "x-api-key"]
        check(names, f"an x-api-key among {headers}", event)
        event[headers][names[0]] = value
    return json.dumps(event).encode()


def flood(body, options):
    """Calls one warm container until it refuses, and returns the number of calls and the refusal."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/2015-03-31/functions/{FUNCTION}/invocations"
    with open(os.path.join(os.environ.get("TMPDIR", "/tmp"), f"weir-start-lambda-{port}.log"), "w+") as log:
        server = subprocess.Popen(
            ["sam", "local", "start-lambda", "--port", str(port), *options],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )
        try:
            deadline = time.monotonic() + 120
            for calls in range(1, FLOOD + 1):
                while True:
                    try:
                        with urllib.request.urlopen(urllib.request.Request(url, body), timeout=30) as r:
                            answer = json.load(r)
                        break
                    except ConnectionError:
                        pass
                    except urllib.error.URLError as e:
                        if not isinstance(e.reason, ConnectionError):
                            raise
                    if server.poll() is not None or time.monotonic() > deadline:
                        log.seek(0)
                        sys.exit(f"sam-local: FAILED: sam local start-lambda did not answer\n{log.read()}")
                    time.sleep(0.3)
                if answer["policyDocument"]["Statement"][0]["Effect"] == "Deny":
                    return calls, answer
            sys.exit(f"sam-local: FAILED: no refusal in {FLOOD} calls")
        finally:
            server.send_signal(signal.SIGTERM)
            try:
                server.wait(60)
            except subprocess.TimeoutExpired:
                server.kill()
            os.unlink(log.name)


def main():
    options = sys.argv[1:]
    for event, answered in (
        ("events/rest-request.json", check_allow),
        ("events/rest-request-bad-key.json", check_unauthorized),
    ):
        answered(invoke(event, options))
        print(f"sam-local: ok: {event}: {answered.__name__.removeprefix('check_')}", flush=True)
    calls, answer = flood(with_key("events/rest-request.json", SMALL_KEY), options)
    check_deny(answer)
    print(f"sam-local: ok: one warm container: refused at call {calls}, wait {answer['context']['retryAfter']} s")


if __name__ == "__main__":
    main()
