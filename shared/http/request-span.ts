import type { IncomingMessage } from 'node:http';
import { traceIdOf } from '#shared/tracing/traceparent.ts';
import type { Span } from '#shared/tracing/tracing.ts';
import { requestIdOf } from './request-context.ts';
import { requestFact } from './request-fact.ts';

const spans = requestFact<Span>('span');

export const keepSpan = (request: IncomingMessage, span: Span): void => spans.set(request, span);

/** The span of a request; none where tracing is off. */
export const spanOf = (request: IncomingMessage): Span | undefined => spans.of(request);

/** What follows from a request names this as its parent. */
export const traceparentOf = (request: IncomingMessage): string | undefined => spans.of(request)?.traceparent;

/** How logs name a request: by its own id, and by that of the trace that it belongs to. */
export const namesOf = (
  request: IncomingMessage,
): { readonly requestId: string; readonly traceId?: string } => {
  const requestId = requestIdOf(request);
  const traceId = traceIdOf(traceparentOf(request));
  return traceId === undefined ? { requestId } : { requestId, traceId };
};
