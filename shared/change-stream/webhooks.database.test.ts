import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LogIdentity, Position, StreamName, UserId, WebhookId } from '#kernel/base/brands.ts';
import { formatCursor } from '#kernel/base/cursor.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import { type ChangeReading, openChangeReading } from '../../test/engines/change-reading.ts';
import { as } from '../../test/engines/command-side.ts';
import { POLICY } from '../../test/engines/policy.ts';
import { createChangeOpener } from './open-change.ts';

let reading: ChangeReading;
beforeAll(async () => {
  reading = await openChangeReading();
});
afterAll(() => reading?.[Symbol.asyncDispose]());

const mark = { webhookId: 6 as WebhookId, ownerId: 1 as UserId };
const shown = {
  ...{ ...mark, eventTypes: ['*'], filter: {}, payload: 'thin' as const, enabled: true, ordered: false },
  limits: { ratePerSecond: 50, concurrency: 10 },
  scopes: ['read:articles' as const],
};
const registered: AnnalsEvent = {
  type: 'webhook.registered',
  data: {
    ...shown,
    url: 'https://example.com/',
    description: 'The shop',
    headers: { 'X-Team': 'blue' },
    secret: `whsec_${'a'.repeat(32)}`,
  },
};
const rotated: AnnalsEvent = {
  type: 'webhook.secret_rotated',
  data: { ...mark, secret: `whsec_${'b'.repeat(32)}`, oldSecretsEndAt: '2026-01-03T03:04:05.678Z' },
};

test('a webhook is visible to its owner and administrators, and its secrets and header values to nobody', async () => {
  const start = await reading.eventLog.head();
  const end = await reading.record('webhook-6' as StreamName, registered, rotated);
  const { changes } = await reading
    .createReader()
    .reader.toPage(await reading.events(start as Position, end));
  const callers = [
    { kind: 'anonymous', policy: POLICY } as const,
    as(1, 'reader'),
    as(2),
    as(3, 'admin'),
    as(1, 'reader', ['read:events']),
  ];
  expect(changes.map((change) => callers.map((caller) => maySee(caller, change)))).toEqual([
    [false, true, false, true, false],
    [false, true, false, true, false],
  ]);
  expect(changes.map(({ data }) => data)).toEqual([
    shown,
    { ...mark, oldSecretsEndAt: '2026-01-03T03:04:05.678Z' },
  ]);
  const open = createChangeOpener(reading);
  expect(await Promise.all(changes.map((change) => open(change)))).toEqual([
    { ...shown, url: 'https://example.com/', description: 'The shop' },
    { ...mark, oldSecretsEndAt: '2026-01-03T03:04:05.678Z' },
  ]);
});

test('positions in the log stay positions inside, and are cursors for clients', async () => {
  const start = await reading.eventLog.head();
  const at = '2026-01-02T03:04:05.678Z';
  const logPosition = (position: number, log: LogIdentity | null = null) => ({
    log,
    position: position as Position,
  });
  const missed = { since: logPosition(12), at };
  const former = '6f9619ff-8b86-4011-b42d-00c04fc96400' as LogIdentity;
  const replay = {
    ...mark,
    replayId: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
    from: null,
    to: logPosition(15, reading.eventLog.identity),
    time: at,
    missed,
  };
  const end = await reading.record(
    'webhook-6' as StreamName,
    { type: 'webhook.disabled', data: { ...mark, reason: 'failing', missed } },
    { type: 'webhook.replay_requested', data: replay },
    { type: 'webhook.disabled', data: { ...mark, reason: 'owner', missed: null } },
    {
      type: 'webhook.replay_requested',
      data: { ...replay, from: logPosition(13, former), to: logPosition(15, former) },
    },
  );
  const { changes } = await reading
    .createReader()
    .reader.toPage(await reading.events(start as Position, end));
  expect(changes[1]?.data).toEqual(replay);
  const cursor = (position: number) => formatCursor(reading.eventLog.identity, position as Position);
  const open = createChangeOpener(reading);
  expect(await Promise.all(changes.map((change) => open(change)))).toEqual([
    { ...mark, reason: 'failing', missed: { since: cursor(12), at } },
    { ...replay, to: cursor(15), missed: { since: cursor(12), at } },
    { ...mark, reason: 'owner', missed: null },
    // Of another log: from the beginning of ours, up to the event of the request.
    { ...replay, from: cursor(0), to: cursor(end), missed: { since: cursor(12), at } },
  ]);
});
