import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { EventId, Position, StreamName, UserId, Version, WebhookId } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { type AnnalsEvent, catalogueOf } from '#shared/events/catalogue.ts';
import { createCodec } from '#shared/events/codec.ts';
import { memoryKeyStore } from '#shared/keys/memory/key-store.ts';
import { context } from '../test/codec-fixture.ts';
import { EVENT_SCOPES } from '../test/engines/policy.ts';
import { createEndpointSecrets } from './endpoint-secrets.ts';

const ownerId = 7001 as UserId;
const webhookId = 6001 as WebhookId;
const mark = { webhookId, ownerId };
const SECOND = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const example = catalogueOf(publishing).find('webhook.registered')?.example ?? {};
const FIRST = example.secret;
const registered = { type: 'webhook.registered', data: example } as unknown as AnnalsEvent;

/** A log with one webhook that counts its reads. */
const createStream = () => {
  const keys = memoryKeyStore();
  const codec = createCodec({ keys, domain: publishing });
  const events: RecordedEvent[] = [];
  const state = { reads: 0, events: 0 };
  const stream = streamName('webhook', webhookId);
  const eventLog = {
    async *read(_stream: StreamName, from = 1 as Version) {
      const page = events.slice(from - 1);
      state.reads += 1;
      state.events += page.length;
      yield page;
    },
  };
  const happens = async (event: AnnalsEvent): Promise<Version> => {
    const version = (events.length + 1) as Version;
    const encoded = await codec.encode(event, context, randomUUID() as EventId, stream);
    events.push({
      ...encoded,
      stream,
      version,
      position: version as unknown as Position,
      recordedAt: new Date(),
    });
    return version;
  };
  const given = { domain: publishing, eventLog, keys, clock: REAL_TIME };
  return { keys, happens, state, secrets: createEndpointSecrets(given) };
};

test('returns destination and secrets as of the latest changes', async () => {
  const { happens, secrets } = createStream();
  await happens(registered);
  const version = await happens({
    type: 'webhook.changed',
    data: { ...mark, url: 'https://example.com/other', headers: {} },
  });
  expect(await secrets(webhookId, version)).toEqual({
    webhookId,
    ownerId,
    scopes: new Set(EVENT_SCOPES),
    url: 'https://example.com/other',
    headers: {},
    payload: 'thin',
    format: 'annals',
    secrets: [{ secret: FIRST, endsAtMs: null }],
  });
});

test('the scopes follow changes of the destination', async () => {
  const { happens, secrets } = createStream();
  await happens(registered);
  const changed = await happens({
    type: 'webhook.changed',
    data: { ...mark, url: 'https://example.com/other', scopes: ['read:users'] },
  });
  expect((await secrets(webhookId, changed))?.scopes).toEqual(new Set(['read:users']));
  await happens({ type: 'webhook.changed', data: { ...mark, ordered: true } });
  const enabled = await happens({ type: 'webhook.enabled', data: { ...mark, scopes: ['read:comments'] } });
  expect(await secrets(webhookId, enabled)).toMatchObject({
    url: 'https://example.com/other',
    scopes: new Set(['read:comments']),
  });
});

test('the old secret signs beside the new one until it expires', async () => {
  const { happens, secrets } = createStream();
  await happens(registered);
  const oldSecretsEndAt = '2026-01-03T03:04:05.678Z';
  const version = await happens({
    type: 'webhook.secret_rotated',
    data: { ...mark, secret: SECOND, oldSecretsEndAt },
  });
  expect((await secrets(webhookId, version))?.secrets).toEqual([
    { secret: SECOND, endsAtMs: null },
    { secret: FIRST, endsAtMs: Date.parse(oldSecretsEndAt) },
  ]);
});

test('reads the log again only if there is something newer, and only that', async () => {
  const { happens, state, secrets } = createStream();
  const version = await happens(registered);
  await Promise.all([secrets(webhookId, version), secrets(webhookId, version)]);
  await secrets(webhookId, version);
  expect(state.reads).toBe(1);
  const newer = await happens({ type: 'webhook.changed', data: { ...mark, payload: 'full' } });
  expect((await secrets(webhookId, newer))?.payload).toBe('full');
  expect(state).toEqual({ reads: 2, events: 2 });
});

test('returns nothing for a deleted webhook or an erased owner', async () => {
  const deleted = createStream();
  await deleted.happens(registered);
  const version = await deleted.happens({ type: 'webhook.deleted', data: mark });
  expect(await deleted.secrets(webhookId, version)).toBeUndefined();

  const erased = createStream();
  const only = await erased.happens(registered);
  await erased.keys.destroy(ownerId);
  expect(await erased.secrets(webhookId, only)).toBeUndefined();
});
