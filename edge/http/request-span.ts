import type { IncomingMessage } from 'node:http';
import { traceIdOf } from '#kernel/base/traceparent.ts';
import type { Span } from '#shared/tracing/tracing.ts';
import { requestIdOf } from './request-context.ts';
import { requestFact } from './request-fact.ts';

const spans = requestFact<Span>('span');

export const keepSpan = (request: IncomingMessage, span: Span): void => spans.set(request, span);

/** The span of a request; undefined if tracing is off. */
export const spanOf = (request: IncomingMessage): Span | undefined => spans.of(request);

/** The parent of every span that follows from the request. */
export const traceparentOf = (request: IncomingMessage): string | undefined => spans.of(request)?.traceparent;

/** The ids of a request in logs: its own, and that of its trace. */
export const namesOf = (
  request: IncomingMessage,
): { readonly requestId: string; readonly traceId?: string } => {
  const requestId = requestIdOf(request);
  const traceId = traceIdOf(traceparentOf(request));
  return traceId === undefined ? { requestId } : { requestId, traceId };
};
