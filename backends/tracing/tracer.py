"""Whether spans are wanted, and the tracer that makes them."""

from __future__ import annotations

import os
import sys
import warnings
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ...records.reading.problems import pip_install

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
# The conventions whose names are used: docs/howto/exports.md.
SCHEMA = "https://opentelemetry.io/schemas/1.44.0"
_ON_SPANS = ("true", "span_only", "span_and_event")


def tracer() -> Tracer | None:
    """What makes spans; None: nobody wants any, and nothing of OpenTelemetry was imported for it.

    They go to the tracer provider of this process, if it has set one. Else, where OpenTelemetry's
    own variables name an OTLP endpoint, to a provider of ours, which is no one else's.

    Warns: UserWarning, once, where an endpoint is named and the extra is not installed.
    """
    provider = _of_this_process()
    if provider is None and _is_wanted():
        provider = _to_endpoint(os.getpid())
    if provider is None:
        return None
    spans: Tracer = provider.get_tracer("nuggetjudge", version("nuggetjudge"), schema_url=SCHEMA)
    return spans


def takes_content() -> bool:
    """Whether prompts, replies and reasons may stand on spans; by default they may not."""
    return os.environ.get(CONTENT, "").strip().lower() in _ON_SPANS


def failed(span: Span, why: str) -> None:
    """Mark what a span is of as failed: `why` is a reason or a type, which quotes nothing."""
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", why)
    span.set_status(Status(StatusCode.ERROR, why))


def _of_this_process() -> Any | None:
    trace = sys.modules.get("opentelemetry.trace")  # else no provider can have been set
    if trace is None:
        return None
    provider = trace.get_tracer_provider()
    is_none = isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider)
    return None if is_none else provider


def _is_wanted() -> bool:
    is_off = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    exporter = os.environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() or "otlp"
    is_named = any(os.environ.get(name, "").strip() for name in ENDPOINTS)
    return is_named and not is_off and exporter == "otlp"


@cache
def _to_endpoint(process: int) -> Any | None:
    """A provider for this process, which a fork would not share; what waits is sent at its end."""
    try:
        sdk: Any = import_module("opentelemetry.sdk.trace")
        export: Any = import_module("opentelemetry.sdk.trace.export")
        resources: Any = import_module("opentelemetry.sdk.resources")
        otlp: Any = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError:
        what = "an OTLP endpoint is named (OTEL_EXPORTER_OTLP_ENDPOINT), but no spans are sent"
        warnings.warn(f"{what}: {pip_install('opentelemetry')}", stacklevel=4)
        return None
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "nuggetjudge"}
    provider = sdk.TracerProvider(resource=resources.Resource.create(named))
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))
    return provider
