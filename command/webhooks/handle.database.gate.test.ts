// Over 200 lines, because all cases share the command side that is set up here.
import { describe, expect } from 'vitest';
import type { StreamName, UserId, WebhookId } from '#kernel/base/brands.ts';
import type { JsonPatch } from '#kernel/base/json-patch.ts';
import type { Command } from '#shared/commands/command.ts';
import type { RegisterWebhook } from '#shared/commands/webhook.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import { allEvents, as, by, Died, mortal, registerUser, system } from '../../test/engines/command-side.ts';
import { test as base } from '../../test/engines/processes.ts';
import { WEBHOOK_FORM } from '../../test/webhook-form.ts';
import { until } from '../../testing/until.ts';
import { webhookStream } from './webhook.ts';

const test = base
  .extend(
    'register',
    { scope: 'file' },
    ({ side }) =>
      async (owner: UserId, more: Partial<RegisterWebhook> = {}): Promise<WebhookId> =>
        (await side.send({ ...REGISTER, ...more }, by(as(owner)))).id as WebhookId,
  )
  .extend(
    'eventsOf',
    { scope: 'file' },
    ({ side }) =>
      async (webhookId: WebhookId) =>
        (await allEvents(side)).filter(({ stream }) => stream === webhookStream(webhookId)),
  )
  .extend(
    'patch',
    { scope: 'file' },
    ({ side }) =>
      (webhookId: WebhookId, owner: UserId, operations: readonly object[]) =>
        side.send({ type: 'PatchWebhook', webhookId, patch: operations as never }, by(as(owner))),
  );

const REGISTER = {
  ...{ type: 'RegisterWebhook', ...WEBHOOK_FORM, description: 'The shop' },
  headers: { Authorization: 'Bearer of.tokens' },
} as const satisfies RegisterWebhook;
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

const refused = (code: string, pointer?: string) => ({
  code,
  ...(pointer !== undefined && { details: { errors: [expect.objectContaining({ pointer })] } }),
});

describe('a secret', () => {
  test('is shown once, and again to a retry with the same key', async ({ side }) => {
    const owner = await registerUser(side);
    const context = by(as(owner), { idempotencyKey: 'register' });
    const first = await side.send(REGISTER, context);
    expect(first.secret).toMatch(SECRET);
    expect(await side.send(REGISTER, context)).toEqual(first);
    expect((await side.send(REGISTER, by(as(owner)))).secret).not.toBe(first.secret);
  });

  test('is read from the event if the process died before it could respond', async ({
    database,
    eventsOf,
    side,
  }) => {
    let appends = 0;
    // The reservation and the event are written, and the outcome is not.
    const dies = (stream: StreamName) =>
      stream.startsWith('command-') && ++appends === 2 ? 'before' : undefined;
    await using dying = await database.open({ wrapLog: mortal(dies) });
    const owner = await registerUser(side);
    const context = by(as(owner), { idempotencyKey: 'died' });
    await expect(dying.send(REGISTER, context)).rejects.toThrow(Died);
    const { id, secret } = await dying.send(REGISTER, context);
    const events = await eventsOf(id as WebhookId);
    expect(events).toMatchObject([{ type: 'webhook.registered', data: { secret } }]);
    expect(await dying.send(REGISTER, context)).toMatchObject({ id, secret });
  });

  test('is replaced by a rotation, which shows the new one', async ({ eventsOf, side }) => {
    const owner = await registerUser(side);
    const { id, secret } = await side.send(REGISTER, by(as(owner)));
    const rotate = { type: 'RotateWebhookSecret', webhookId: id as WebhookId } as const;
    const context = by(as(owner), { idempotencyKey: 'rotate' });
    const rotated = await side.send(rotate, context);
    expect(rotated.secret).toMatch(SECRET);
    expect(rotated.secret).not.toBe(secret);
    expect(await side.send(rotate, context)).toEqual(rotated);
    const [, event] = await eventsOf(id as WebhookId);
    expect(event?.data).toMatchObject({ secret: rotated.secret, oldSecretsEndAt: expect.any(String) });
    const edited = await side.send(
      { type: 'EditWebhook', webhookId: id as WebhookId, ordered: true },
      by(as(owner)),
    );
    expect(edited).not.toHaveProperty('secret');
  });

  test('is not in clear in the log, and neither are address and headers', async ({ side }) => {
    const owner = await registerUser(side);
    const { id, secret } = await side.send(REGISTER, by(as(owner), { idempotencyKey: 'sealed' }));
    const stored = await Array.fromAsync(side.eventLog.read(webhookStream(id as WebhookId)));
    const { rows } = await side.pool.query<{ data: string }>(
      'select data::text as data from event_log.event',
    );
    const text = [JSON.stringify(stored), ...rows.map(({ data }) => data)].join();
    for (const hidden of [secret, REGISTER.url, REGISTER.description, REGISTER.headers.Authorization])
      expect(text).not.toContain(hidden);
  });
});

test('the readable scopes of the deciding token are recorded', async ({ eventsOf, side }) => {
  const owner = await registerUser(side);
  const bearing = (...scopes: readonly string[]) => by(as(owner, 'author', scopes));
  const { id } = await side.send(
    REGISTER,
    bearing('manage:webhooks', 'write:articles', 'read:comments', 'read:events'),
  );
  const webhookId = id as WebhookId;
  await side.send(
    { type: 'EditWebhook', webhookId, ordered: true },
    bearing('manage:webhooks', 'read:users'),
  );
  await side.send(
    { type: 'EditWebhook', webhookId, url: 'https://example.com/2' },
    bearing('manage:webhooks', 'read:articles'),
  );
  await side.send({ type: 'EditWebhook', webhookId, payload: 'full' }, by(system));
  const patch: JsonPatch = [
    { op: 'test', path: '/scopes/0', value: 'read:articles' },
    { op: 'remove', path: '/filter' },
  ];
  await side.send({ type: 'PatchWebhook', webhookId, patch }, bearing('manage:webhooks'));
  await side.send({ type: 'DisableWebhook', webhookId, reason: 'owner' }, bearing('manage:webhooks'));
  await side.send({ type: 'EnableWebhook', webhookId }, bearing('manage:webhooks', 'read:users'));
  expect((await eventsOf(webhookId)).map(({ data }) => 'scopes' in data && data.scopes)).toEqual([
    ['read:comments', 'manage:webhooks'],
    false,
    ['read:articles', 'manage:webhooks'],
    false,
    false,
    ['read:users', 'manage:webhooks'],
  ]);
});

describe('somebody else’s webhook', () => {
  test('is absent, except for administrators', async ({ eventsOf, register, side }) => {
    const [owner, other] = [await registerUser(side), await registerUser(side)];
    const webhookId = await register(owner);
    const commands: readonly Command[] = [
      { type: 'EditWebhook', webhookId, ordered: true },
      { type: 'RotateWebhookSecret', webhookId },
      { type: 'DisableWebhook', webhookId, reason: 'owner' },
      { type: 'EnableWebhook', webhookId },
      { type: 'TestWebhook', webhookId },
      { type: 'PatchWebhook', webhookId, patch: [{ op: 'test', path: '/url', value: 'x' }] },
      { type: 'DeleteWebhook', webhookId },
    ];
    for (const command of commands) {
      await expect(side.send(command, by(as(other, 'reader')))).rejects.toMatchObject(
        refused('webhook_not_found'),
      );
    }
    expect(await eventsOf(webhookId)).toHaveLength(1);
    expect(
      (await side.send({ type: 'EditWebhook', webhookId, ordered: true }, by(as(other, 'admin')))).version,
    ).toBe(2);
  });

  test('is registered by administrators only, for an existing user', async ({ eventsOf, side }) => {
    const [owner, other] = [await registerUser(side), await registerUser(side)];
    const named = { ...REGISTER, ownerId: owner };
    await expect(side.send(named, by(as(other)))).rejects.toMatchObject(refused('forbidden'));
    const { id } = await side.send(named, by(as(other, 'admin')));
    expect((await eventsOf(id as WebhookId))[0]?.data).toMatchObject({ ownerId: owner });
    const nobody = { ...REGISTER, ownerId: 987_654 as UserId };
    await expect(side.send(nobody, by(as(other, 'admin')))).rejects.toMatchObject(
      refused('invalid_command', '/ownerId'),
    );
    await expect(side.send(REGISTER, by(system))).rejects.toMatchObject(
      refused('invalid_command', '/ownerId'),
    );
  });
});

test.for(['http://10.0.0.1/', 'http://[::1]/', 'http://0x7f.1/', 'https://example.com:22/'])(
  'an address inside is refused: %s',
  async (url, { register, side }) => {
    const owner = await registerUser(side);
    await expect(register(owner, { url })).rejects.toMatchObject(refused('invalid_command', '/url'));
    const webhookId = await register(owner);
    await expect(side.send({ type: 'EditWebhook', webhookId, url }, by(as(owner)))).rejects.toMatchObject(
      refused('invalid_command', '/url'),
    );
  },
);

test.for(['article.eaten', 'email.*', 'command.reserved'])(
  'asks for %s in vain, which nobody is told of',
  async (type, { register, side }) => {
    const owner = await registerUser(side);
    await expect(register(owner, { eventTypes: ['article.*', type] })).rejects.toMatchObject(
      refused('invalid_command', '/command/eventTypes'),
    );
    const webhookId = await register(owner);
    const changed = side.send({ type: 'EditWebhook', webhookId, eventTypes: [type] }, by(as(owner)));
    await expect(changed).rejects.toMatchObject(refused('invalid_command', '/command/eventTypes'));
  },
);

test('only the system disables for another reason than the owner’s request', async ({
  eventsOf,
  register,
  side,
}) => {
  const owner = await registerUser(side);
  const webhookId = await register(owner);
  const disable = { type: 'DisableWebhook', webhookId, reason: 'failing' } as const;
  await expect(side.send(disable, by(as(owner, 'admin')))).rejects.toMatchObject(refused('forbidden'));
  await side.send(disable, by(system));
  const [first, event] = await eventsOf(webhookId);
  expect(event).toMatchObject({
    type: 'webhook.disabled',
    data: { reason: 'failing', missed: { at: event?.metadata.at } },
  });
  const missed = event?.type === 'webhook.disabled' ? event.data.missed : null;
  expect(missed?.since.log).toBe(side.eventLog.identity);
  expect(missed?.since.position).toBeGreaterThanOrEqual(first?.position ?? 0);
  expect(missed?.since.position).toBeLessThan(event?.position ?? 0);
});

test('changes missed while somebody else had disabled it are offered to its owner', async ({
  eventsOf,
  register,
  side,
}) => {
  const [owner, admin] = [await registerUser(side), await registerUser(side)];
  const webhookId = await register(owner);
  const disable = { type: 'DisableWebhook', webhookId, reason: 'owner' } as const;
  await side.send(disable, by(as(owner, 'admin')));
  await side.send({ type: 'EnableWebhook', webhookId }, by(as(owner)));
  await side.send(disable, by(as(admin, 'admin')));
  await side.send({ type: 'EnableWebhook', webhookId }, by(as(owner)));
  await side.send({ type: 'ReplayWebhook', webhookId }, by(as(owner)));
  const [, , enabled, disabled, , replay] = await eventsOf(webhookId);
  const [, byOwner] = await eventsOf(webhookId);
  expect(byOwner?.data).toMatchObject({ reason: 'owner', missed: null });
  const missed = {
    since: { log: side.eventLog.identity, position: expect.any(Number) },
    at: disabled?.metadata.at,
  };
  expect(disabled?.data).toMatchObject({ reason: 'owner', missed });
  const since = disabled?.type === 'webhook.disabled' ? disabled.data.missed?.since : undefined;
  expect(since?.position).toBeGreaterThanOrEqual(enabled?.position ?? 0);
  expect(replay?.data).toMatchObject({ from: since, missed: null });
});

describe('a replay', () => {
  test('covers the span of its cursors and times in the log', async ({ eventsOf, side }) => {
    const owner = await registerUser(side);
    const { id, cursor } = await side.send(REGISTER, by(as(owner)));
    const ask = { type: 'ReplayWebhook', webhookId: id as WebhookId } as const;
    await side.send({ ...ask, from: cursor, to: cursor }, by(as(owner)));
    await side.send({ ...ask, from: '2026-01-02T04:04:05+01:00' }, by(as(owner)));
    const [first, byCursor, byTime] = await eventsOf(id as WebhookId);
    const logPositionOf = (event: DecodedEvent | undefined) => ({
      log: side.eventLog.identity,
      position: event?.position,
    });
    expect(byCursor).toMatchObject({
      type: 'webhook.replay_requested',
      data: {
        replayId: byCursor?.id,
        from: logPositionOf(first),
        to: logPositionOf(first),
        time: null,
        missed: null,
      },
    });
    expect(byTime?.data).toMatchObject({
      from: null,
      time: '2026-01-02T03:04:05.000Z',
      to: logPositionOf(byCursor),
    });
    const foreign = side.send({ ...ask, from: '00000000-1' }, by(as(owner)));
    await expect(foreign).rejects.toMatchObject(refused('invalid_command', '/from'));
    await expect(side.send(ask, by(as(owner)))).rejects.toMatchObject(refused('invalid_command', '/from'));
  });
});

describe('a JSON patch', () => {
  test('applies its operations, and keeps the values of headers', async ({
    eventsOf,
    patch,
    register,
    side,
  }) => {
    const owner = await registerUser(side);
    const webhookId = await register(owner);
    await patch(webhookId, owner, [
      { op: 'test', path: '/headers/Authorization', value: '********' },
      { op: 'test', path: '/status', value: 'enabled' },
      { op: 'add', path: '/headers/X-Team', value: 'blue' },
      { op: 'replace', path: '/limits/concurrency', value: 1 },
      { op: 'remove', path: '/description' },
    ]);
    const [, changed] = await eventsOf(webhookId);
    expect(changed?.data).toEqual({
      ...{ webhookId, ownerId: owner, description: null },
      ...{
        limits: { ratePerSecond: 50, concurrency: 1 },
        headers: { ...REGISTER.headers, 'X-Team': 'blue' },
      },
    });
  });

  test('cannot change anything but the owner’s content', async ({ patch, register, side }) => {
    const owner = await registerUser(side);
    const webhookId = await register(owner);
    const change = (path: string, value: unknown) =>
      patch(webhookId, owner, [{ op: 'replace', path, value }]);
    await expect(change('/ownerId', 1)).rejects.toMatchObject(refused('invalid_command', '/ownerId'));
    await expect(change('/status', 'disabled')).rejects.toMatchObject(refused('invalid_command', '/status'));
    await expect(change('/url', 'ftp://example.com')).rejects.toMatchObject(
      refused('invalid_command', '/url'),
    );
    await expect(change('/headers', { Host: 'x' })).rejects.toMatchObject(
      refused('invalid_command', '/headers'),
    );
  });

  test('cannot send the hidden value of a header to another origin', async ({ patch, register, side }) => {
    const owner = await registerUser(side);
    const webhookId = await register(owner);
    const move = { op: 'replace', path: '/url', value: 'https://other.example/hooks' };
    await expect(patch(webhookId, owner, [move])).rejects.toMatchObject(
      refused('invalid_command', '/headers/Authorization'),
    );
    await patch(webhookId, owner, [move, { op: 'replace', path: '/headers', value: { 'X-Team': 'blue' } }]);
  });
});

test('a deleted user’s webhooks are deleted, and then the key to their data', async ({
  eventsOf,
  register,
  side,
}) => {
  const owner = await registerUser(side);
  const webhooks = await Promise.all([register(owner), register(owner)]);
  await side.send({ type: 'DeleteUser', userId: owner }, by(as(owner)));
  await until(
    () => side.keys.find([owner]),
    (keys) => keys.get(owner) === 'destroyed',
  );
  for (const webhookId of webhooks) {
    const events = await eventsOf(webhookId);
    expect(events.map(({ type }) => type)).toEqual(['webhook.registered', 'webhook.deleted']);
    expect(events[0]?.data).toMatchObject({ url: null, description: null, headers: null, secret: null });
  }
  await expect(register(owner)).rejects.toMatchObject(refused('user_deleted'));
  expect(await Array.fromAsync(side.eventLog.read(`webhook-${webhooks[0]}` as StreamName))).toHaveLength(1);
});
