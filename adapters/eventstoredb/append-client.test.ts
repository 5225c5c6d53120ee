import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { EventId } from '#kernel/base/brands.ts';
import { checkEvent } from '#shared/event-log/check-append.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { AppendClient } from './append-client.ts';
import { PassingFailure } from './failures.ts';

test('an append without time left is not sent', async () => {
  const url = 'esdb://127.0.0.1:1?tls=false';
  await using client = new AppendClient({
    url,
    prefix: 'annals.',
    silenceMaxMs: 1_000,
    onNotReady: () => {},
  });
  const events = [
    checkEvent({ id: randomUUID() as EventId, type: 'thing.noted', data: {}, metadata: {} }),
  ] as const;
  const sent = client.send(
    { stream: 'thing-1', expected: NO_STREAM, events },
    { answerWithinMs: 1_000, leftMs: -50 },
  );
  await expect(sent).rejects.toThrow(PassingFailure);
  await expect(sent).rejects.toThrow('no room');
});
