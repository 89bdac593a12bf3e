"""Starts MiniStack with what a deployment of Weir needs and it lacks: docs/emulator.md.

    .tools/venv/bin/python test/e2e/emulator.py

It takes MiniStack's own environment (GATEWAY_PORT, BIND_HOST, AUTH, ...). Three functions of it are replaced by ones that
call them and do the rest, so it goes with the version that requirements-test.txt pins. One that has been renamed or
takes other arguments ends the start with an error; it is never left out in silence.
"""

import contextvars
import inspect
import re

from ministack import app
from ministack.services import apigateway_v1 as gateway
from ministack.services import dynamodb
from ministack.services.cloudformation import provisioners

# The request that is being served, with what its authorizer said. A request is served by one task, from end to end.
_request = contextvars.ContextVar("request", default=None)

_VARIABLE = re.compile(r"\$(?:\{(context\.[\w.]+)\}|(context(?:\.[A-Za-z]\w*)+))")


def _value(name):
    """The value of context.X in the current request, or None."""
    request = _request.get() or {}
    if name.startswith("context.authorizer."):
        return request.get("authorizer", {}).get(name.removeprefix("context.authorizer."))
    return {
        "context.requestId": request.get("request_id"),
        "context.resourcePath": request.get("resource_path"),
        "context.httpMethod": request.get("http_method"),
        "context.stage": request.get("stage_name"),
        "context.apiId": request.get("api_id"),
    }.get(name)


def _render(template):
    """The template with every variable that has a value; the others stay as they are, to be seen."""
    return _VARIABLE.sub(lambda m: m.group(0) if (v := _value(m.group(1) or m.group(2))) is None else v, template)


def replace(module, name, parameters):
    """Decorates what takes the place of module.name, and is given it as its first argument."""

    def decorate(wrapper):
        original = getattr(module, name)
        if list(inspect.signature(original).parameters) != parameters.split():
            raise SystemExit(f"emulator.py: {module.__name__}.{name} takes {inspect.signature(original)}, not ({parameters}): adapt it")

        def called(*args, **kwargs):
            return wrapper(original, *args, **kwargs)

        setattr(module, name, called)
        return wrapper

    return decorate


# What follows is what API Gateway does with the context of an authorizer: its values are text, `context.authorizer.NAME`
# maps one to a header, and `$context.authorizer.NAME` puts one into a body.


@replace(gateway, "_execute_in_scope", "request api_id stage_name method path headers body query_params owner_account_id owner_region")
async def _execute(original, request, api_id, stage_name, method, *rest):
    request["http_method"] = method
    _request.set(request)
    return await original(request, api_id, stage_name, method, *rest)


@replace(gateway, "_invoke_authorizer_lambda", "authorizer event account_id region")
async def _authorize(original, *args):
    result = await original(*args)
    answer = (result or {}).get("body")
    if isinstance(answer, dict):
        _request.get()["authorizer"] = gateway._stringify_context(answer.get("context"))
    return result


@replace(gateway, "_gateway_request_value", "source request")
def _header_of_gateway_response(original, source, request):
    return _value(source) if source.startswith("context.authorizer.") else original(source, request)


@replace(gateway, "_gateway_error_response", "error request")
def _gateway_response(original, error, request):
    status, headers, body = original(error, request)
    return status, headers, _render(body.decode()).encode()


@replace(gateway, "_invoke_mock_v1", "integration")
def _mock(original, integration):
    status, headers, body = original(integration)
    mapped = {k: v if not v.startswith("context.") else _value(v) for k, v in headers.items()}
    return status, {k: v for k, v in mapped.items() if v is not None}, _render(body.decode()).encode()


# CloudFormation makes the replicas that AWS::DynamoDB::GlobalTable names, and deletes them with it.


@replace(provisioners, "_ddb_global_table_create", "logical_id props stack_name")
def _create_global_table(original, logical_id, props, stack_name):
    name, attributes = original(logical_id, props, stack_name)
    others = [r["Region"] for r in props["Replicas"] if r["Region"] != provisioners.get_region()]
    if others and (err := dynamodb._apply_replica_updates(name, dynamodb._tables[name], [{"Create": {"RegionName": r}} for r in others])):
        raise ValueError(f"replicas of {name}: {err[2]!r}")
    return name, attributes


@replace(provisioners, "_ddb_global_table_delete", "physical_id props")
def _delete_global_table(original, physical_id, props):
    table = dynamodb._tables.get(physical_id)
    others = [r for r in dynamodb._replica_group(table or {}) if r != provisioners.get_region()]
    if others:
        dynamodb._apply_replica_updates(physical_id, table, [{"Delete": {"RegionName": r}} for r in others])
    return original(physical_id, props)


# The table of resource types holds the functions themselves.
provisioners._RESOURCE_HANDLERS["AWS::DynamoDB::GlobalTable"].update(
    create=provisioners._ddb_global_table_create, delete=provisioners._ddb_global_table_delete
)



@replace(app, "pin_request_origin", "source_ip secure_transport")
def _origin(original, source_ip, _):
    # Policies that want TLS, as that of the CDK's own bucket, take this machine's loopback for it.
    original(source_ip, True)


if __name__ == "__main__":
    app.main()
