import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { EndedSpan } from '#shared/tracing/memory/memory-tracing.ts';
import type { SpanKind } from '#shared/tracing/tracing.ts';
import { startLocalServer } from './local-server.ts';

/** A span as a collector receives it. */
export type ReceivedSpan = EndedSpan & { readonly service: string };

/** A collector of traces that accepts OTLP over HTTP in JSON, and stores it. */
export type OtlpReceiver = AsyncDisposable & {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** All requests, with their headers. */
  readonly printed: () => string;
  /** From now on; 200 by default. */
  answer(how: (response: ServerResponse) => void): void;
};

type Request = { readonly resourceSpans: readonly ResourceSpans[] };
type ResourceSpans = {
  readonly resource: { readonly attributes: readonly KeyValue[] };
  readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
};
type OtlpSpan = {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly status: { readonly code: number };
};
type KeyValue = { readonly key: string; readonly value: AnyValue };
type AnyValue = {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
};

export const startOtlpReceiver = async (): Promise<OtlpReceiver> => {
  const spans: ReceivedSpan[] = [];
  const came: string[] = [];
  let answer = (response: ServerResponse): void =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  const server = await startLocalServer(async (request, response) => {
    // A process that stops cuts off unfinished requests.
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    came.push(JSON.stringify(request.headers), body);
    if (request.url === '/v1/traces') spans.push(...spansIn(JSON.parse(body) as Request));
    answer(response);
  });
  return {
    url: server.url,
    spans,
    printed: () => came.join('\n'),
    answer(how) {
      answer = how;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};

const spansIn = ({ resourceSpans }: Request): readonly ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesIn(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => receivedOf(span, service)));
  });

const KINDS: readonly SpanKind[] = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'];
const NS_PER_MS = 1_000_000;
const FAILED = 2;

const receivedOf = (span: OtlpSpan, service: string): ReceivedSpan => ({
  service,
  name: span.name,
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId || undefined,
  kind: KINDS[span.kind] ?? 'internal',
  attributes: attributesIn(span.attributes),
  startedAtMs: Number(span.startTimeUnixNano) / NS_PER_MS,
  endedAtMs: Number(span.endTimeUnixNano) / NS_PER_MS,
  isFailure: span.status.code === FAILED,
});

const attributesIn = (pairs: readonly KeyValue[]): EndedSpan['attributes'] =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, readValue(value)]));

const readValue = (value: AnyValue): string | number | boolean | readonly string[] | undefined => {
  if (value.arrayValue) return value.arrayValue.values.map(({ stringValue = '' }) => stringValue);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.boolValue ?? value.doubleValue;
};
