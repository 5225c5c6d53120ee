import { errorTypeOf, type Span, type Tracing } from '#shared/tracing/tracing.ts';
import type { AttemptResult, Sender } from './delivery.ts';

/**
 * Traces each attempt as part of its change; the receiver can continue the trace. Only the webhook’s id hints
 * at the destination.
 */
export const traceAttempts = (tracing: Tracing, sender: Sender): Sender => {
  if (!tracing.isOn) return sender;
  return {
    async send(outgoing, signal) {
      const { webhookId, eventId, attempts, change } = outgoing.delivery;
      if (change.trace === undefined) return sender.send(outgoing, signal);
      const span = tracing.start('POST webhook', {
        parent: change.trace,
        kind: 'client',
        attributes: {
          'http.request.method': 'POST',
          'http.request.resend_count': attempts === 0 ? undefined : attempts,
          'annals.webhook.id': webhookId,
          'annals.event.id': eventId,
        },
      });
      try {
        const result = await sender.send({ ...outgoing, trace: span.traceparent }, signal);
        recordResult(span, result);
        return result;
      } catch (error) {
        span.fail(errorTypeOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
  };
};

const FIRST_FAILURE = 400;

const recordResult = (span: Span, { attempt, outcome }: AttemptResult): void => {
  const status = attempt?.status ?? undefined;
  span.set({ 'http.response.status_code': status, 'annals.outcome': outcome.state });
  if (attempt === null || (status !== undefined && status < FIRST_FAILURE)) return;
  span.fail(status === undefined ? 'no_answer' : String(status));
};
