import { createHash, createSecretKey } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { v5 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { EventId, Position, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { Json, JsonObject } from '#kernel/base/json.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { memoryKeyStore } from '#shared/keys/memory/key-store.ts';
import { type Canonical, canonicalForm, hashOf } from '../../proof/stored/canonical.ts';
import { catalogueOf } from './catalogue.ts';
import { createCodec } from './codec.ts';

/**
 * Every version of every type that was ever written, as it was stored. Lines are only ever added here, and
 * neither the stored part of a fixture nor its hash ever changes: there are logs with such events. The
 * decoded part changes with the version. `WRITE_GOLDEN=1` writes missing fixtures.
 */
const FIXTURES = [
  'account.agent_allowed.v1.json',
  'account.agent_ended.v1.json',
  'account.data_exported.v1.json',
  'account.deactivated.v1.json',
  'account.identity_linked.v1.json',
  'account.identity_unlinked.v1.json',
  'account.passkey_added.v1.json',
  'account.passkey_refused.v1.json',
  'account.passkey_removed.v1.json',
  'account.password_changed.v1.json',
  'account.reactivated.v1.json',
  'account.reclaimed.v1.json',
  'account.recovery_code_used.v1.json',
  'account.recovery_codes_renewed.v1.json',
  'account.reset_requested.v1.json',
  'account.second_factor_added.v1.json',
  'account.second_factor_removed.v1.json',
  'account.token_created.v1.json',
  'account.token_revoked.v1.json',
  'administrator.appointed.v1.json',
  'administrator.leaving.v1.json',
  'article.deleted.v1.json',
  'article.drafted.v1.json',
  'article.edited.v1.json',
  'article.published.v1.json',
  'article.unpublished.v1.json',
  'client.changed.v1.json',
  'client.deleted.v1.json',
  'client.registered.v1.json',
  'client.secret_rotated.v1.json',
  'command.completed.v1.json',
  'command.reserved.v1.json',
  'comment.added.v1.json',
  'comment.deleted.v1.json',
  'comment.edited.v1.json',
  'email.claimed.v1.json',
  'email.released.v1.json',
  'grant.consented.v1.json',
  'grant.reuse_detected.v1.json',
  'grant.revoked.v1.json',
  'invitation.accepted.v1.json',
  'invitation.made.v1.json',
  'invitation.revoked.v1.json',
  'session.sign_in_failed.v1.json',
  'session.signed_in.v1.json',
  'session.signed_out.v1.json',
  'token.exchanged.v1.json',
  'user.deleted.v1.json',
  'user.email_abandoned.v1.json',
  'user.registered.v1.json',
  'user.updated.v1.json',
  'webhook.changed.v1.json',
  'webhook.deleted.v1.json',
  'webhook.disabled.v1.json',
  'webhook.disabled.v2.json',
  'webhook.enabled.v1.json',
  'webhook.redelivery_requested.v1.json',
  'webhook.redrive_requested.v1.json',
  'webhook.redrive_requested.v2.json',
  'webhook.registered.v1.json',
  'webhook.replay_requested.v1.json',
  'webhook.replay_requested.v2.json',
  'webhook.secret_rotated.v1.json',
  'webhook.test_requested.v1.json',
];

type Golden = {
  readonly stored: Canonical;
  readonly hash: string;
  /** As the present code decodes it, whatever version was stored. */
  readonly decoded: JsonObject;
  readonly erased: JsonObject;
};

const FOLDER = new URL('./golden/', import.meta.url);
const AUTHOR = 7001 as UserId;
const CONTEXT = {
  at: '2026-01-02T03:04:05.678Z',
  actor: `user:${AUTHOR}`,
  client: 'web',
  request: 'request-1',
  correlation: 'request-1',
  causation: null,
} as const;

const testKey = (subject: UserId) =>
  createSecretKey(createHash('sha256').update(`golden ${subject}`).digest());

const codecFor = async (person: 'living' | 'erased') => {
  const keys = memoryKeyStore(testKey);
  if (person === 'living') await keys.obtain(AUTHOR);
  else await keys.destroy(AUTHOR);
  return createCodec({ keys, domain: publishing });
};

const recorded = (stored: Canonical): RecordedEvent => ({
  ...stored,
  position: 1 as Position,
  recordedAt: new Date(0),
});

const decodedData = async (stored: Canonical, person: 'living' | 'erased') => {
  const [event] = await (await codecFor(person)).decodeAll([recorded(stored)]);
  return event?.data as JsonObject;
};

const writeMissing = async (present: readonly string[]) => {
  const codec = await codecFor('living');
  for (const definition of catalogueOf(publishing).definitions) {
    const file = `${definition.type}.v${definition.version}.json`;
    if (present.includes(file)) continue;
    const { kind, key } = definition.stream;
    const stream = streamName(kind, key === null ? 'golden' : String(definition.example[key]));
    const id = v5(file, v5.URL) as EventId;
    const event = { type: definition.type, data: definition.example };
    const stored = { stream, version: 1 as Version, ...(await codec.encode(event, CONTEXT, id, stream)) };
    const golden = {
      stored,
      hash: hashOf(stored).toString('hex'),
      decoded: await decodedData(stored, 'living'),
      erased: await decodedData(stored, 'erased'),
    } satisfies Golden;
    writeFileSync(new URL(file, FOLDER), `${JSON.stringify(golden, null, 2)}\n`);
  }
};

if (process.env.WRITE_GOLDEN === '1') await writeMissing(readdirSync(FOLDER));
const read = (file: string): Golden => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'));

test('no fixture disappears and every one has a line here', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(FIXTURES);
});

test.each(catalogueOf(publishing).definitions)(
  '$type has a fixture of every version up to $version',
  ({ type, version }) => {
    for (let each = 1; each <= version; each += 1) expect(FIXTURES).toContain(`${type}.v${each}.json`);
  },
);

const textsIn = (value: Json | undefined): readonly string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

describe.each(FIXTURES)('%s', (file) => {
  const golden = read(file);

  test('decodes to its meaning', async () => {
    expect(await decodedData(golden.stored, 'living')).toEqual(golden.decoded);
  });

  test('decodes without the personal fields once the key is destroyed', async () => {
    expect(await decodedData(golden.stored, 'erased')).toEqual(golden.erased);
  });

  test('has its original hash, even after its canonical form was read back', () => {
    expect(hashOf(golden.stored).toString('hex')).toBe(golden.hash);
    expect(hashOf(JSON.parse(canonicalForm(golden.stored))).toString('hex')).toBe(golden.hash);
  });

  test('has no personal field in clear', () => {
    const definition = catalogueOf(publishing).find(golden.stored.type);
    for (const field of definition?.personal?.fields ?? []) {
      for (const value of textsIn(golden.decoded[field]))
        expect(canonicalForm(golden.stored)).not.toContain(value);
    }
  });

  test('belongs to its stream', async () => {
    const elsewhere = { ...golden.stored, stream: 'elsewhere-1' as StreamName };
    await expect(decodedData(elsewhere, 'living')).rejects.toThrow('does not belong on elsewhere-1');
  });
});
