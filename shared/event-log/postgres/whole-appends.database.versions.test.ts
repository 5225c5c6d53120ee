import { expect } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import { anEvent, aStream } from '../../../test/contracts/event-log-engine.ts';
import { test } from '../../../test/engines/pool.ts';
import { type EventLog, type NewEvent, NO_STREAM, type RecordedEvent } from '../event-log.ts';

const AT = '2026-01-02T03:04:05.678Z';

const ofRequest = (request: string, count: number): readonly NewEvent[] =>
  Array.from({ length: count }, () => {
    const event = anEvent();
    return { ...event, metadata: { ...event.metadata, request, at: AT } };
  });

const pagesUpTo = async (
  log: EventLog,
  [from, to]: readonly [Position, Position],
): Promise<readonly (readonly RecordedEvent[])[]> => {
  const pages: (readonly RecordedEvent[])[] = [];
  for await (const page of log.follow(from, AbortSignal.timeout(20_000))) {
    pages.push(page);
    if ((page.at(-1)?.position ?? 0) >= to) break;
  }
  return pages;
};

test('no page of a follower ends within an append, from the log or from the shared window', async ({
  eventLog: log,
}) => {
  const from = await log.head();
  let to = from;
  for (let command = 0; command < 5; command += 1) {
    const request = `command-${command}`;
    const also = [0, 1].map(() => ({
      stream: aStream(),
      expected: NO_STREAM,
      events: ofRequest(request, 99),
    }));
    const own = ofRequest(request, 102);
    to = (await log.append(aStream(), NO_STREAM, own, { also })).position;
  }
  for (let round = 0; round < 2; round += 1) {
    const pages = await pagesUpTo(log, [from, to]);
    expect(pages.flat()).toHaveLength(1_500);
    expect(pages.length).toBeGreaterThan(1);
    for (const page of pages) expect(page.length % 300).toBe(0);
  }
});

test('a page that is part of one larger run of a request still goes on', async ({ eventLog: log }) => {
  const from = await log.head();
  await log.append(aStream(), NO_STREAM, ofRequest('long', 1_000));
  const { position } = await log.append(aStream(), NO_STREAM, ofRequest('long', 600));
  expect((await pagesUpTo(log, [from, position])).flat()).toHaveLength(1_600);
});
