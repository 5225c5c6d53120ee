import { expect, test } from 'vitest';
import type { EventId, WebhookId } from '#kernel/base/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { createMemoryTracing } from '#shared/tracing/memory/memory-tracing.ts';
import { NO_TRACING } from '#shared/tracing/tracing.ts';
import type { PlannedDelivery } from '../ledger/plan-rows.ts';
import { tracePlans } from '../trace-plans.ts';
import type { Attempt, AttemptResult, Outgoing, Sender } from './delivery.ts';
import { traceAttempts } from './trace-attempts.ts';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const { signal } = new AbortController();

const changeOf = (id: string, trace?: string): Change =>
  ({ id, type: 'article.published', ...(trace && { trace }) }) as unknown as Change;
const outgoingOf = (change: Change, attempts = 0): Outgoing =>
  ({
    delivery: { webhookId: 9 as WebhookId, eventId: change.id as EventId, attempts, change },
  }) as unknown as Outgoing;
const resultOf = (status: number | null, state: 'delivered' | 'due'): AttemptResult =>
  ({
    attempt: { status, error: 'https://secret.example did not answer' } as Attempt,
    outcome: { state },
  }) as AttemptResult;

const senderOf = (answer: () => AttemptResult) => {
  const sent: Outgoing[] = [];
  const sender: Sender = {
    async send(outgoing) {
      sent.push(outgoing);
      return answer();
    },
  };
  return { sent, sender };
};

test('an attempt is part of the trace of its change, which the receiver can continue', async () => {
  const tracing = createMemoryTracing();
  const { sent, sender } = senderOf(() => resultOf(204, 'delivered'));
  await traceAttempts(tracing, sender).send(outgoingOf(changeOf('a', TRACE), 2), signal);
  const [span] = tracing.ended;
  expect(span).toMatchObject({ kind: 'client', parentSpanId: 'b7ad6b7169203331', isFailure: false });
  expect(span?.attributes).toMatchObject({
    'http.response.status_code': 204,
    'http.request.resend_count': 2,
    'annals.outcome': 'delivered',
  });
  expect(sent[0]?.trace).toBe(`00-${span?.traceId}-${span?.spanId}-01`);
});

test('a change without a trace is sent without one', async () => {
  const tracing = createMemoryTracing();
  const { sent, sender } = senderOf(() => resultOf(204, 'delivered'));
  await traceAttempts(tracing, sender).send(outgoingOf(changeOf('a')), signal);
  expect(tracing.ended).toEqual([]);
  expect(sent[0]).not.toHaveProperty('trace');
  expect(traceAttempts(NO_TRACING, sender)).toBe(sender);
});

test.each([
  [500, '500'],
  [302, undefined],
  [null, 'no_answer'],
])('a response %s is traced as the failure %s, without its text', async (status, failure) => {
  const tracing = createMemoryTracing();
  const { sender } = senderOf(() => resultOf(status, 'due'));
  await traceAttempts(tracing, sender).send(outgoingOf(changeOf('a', TRACE)), signal);
  expect(tracing.ended).toMatchObject([{ isFailure: failure !== undefined }]);
  expect(tracing.ended[0]?.attributes['error.type']).toBe(failure);
  expect(JSON.stringify(tracing.ended)).not.toContain('secret.example');
});

test('our own failure is recorded by its type', async () => {
  const tracing = createMemoryTracing();
  const { sender } = senderOf(() => {
    throw new RangeError('https://secret.example');
  });
  await expect(traceAttempts(tracing, sender).send(outgoingOf(changeOf('a', TRACE)), signal)).rejects.toThrow(
    RangeError,
  );
  expect(tracing.ended).toMatchObject([{ isFailure: true, attributes: { 'error.type': 'RangeError' } }]);
});

test('the plan of a change with deliveries is traced after the commit, and its attempts follow from it', () => {
  const tracing = createMemoryTracing();
  const plans = tracePlans(tracing);
  const [wanted, unwanted, untraced] = plans.begin([
    changeOf('a', TRACE),
    changeOf('b', TRACE),
    changeOf('c'),
  ]);
  plans.planned([wanted, wanted, untraced].map((change) => ({ webhookId: 9, change }) as PlannedDelivery));
  expect(tracing.ended).toEqual([]);
  plans.committed();
  plans.committed();
  expect(tracing.ended).toMatchObject([
    { name: 'plan webhooks', attributes: { 'annals.event.id': 'a', 'annals.webhook.deliveries': 2 } },
  ]);
  expect(wanted?.trace).toContain(tracing.ended[0]?.spanId);
  expect([unwanted?.trace?.slice(0, 35), untraced?.trace]).toEqual([TRACE.slice(0, 35), undefined]);
});
