import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UserId, WebhookId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { RegisterWebhook } from '#shared/commands/webhook.ts';
import {
  as,
  by,
  type CommandSide,
  createCommandDatabase,
  registerUser,
} from '../../test/engines/command-side.ts';
import { WEBHOOK_FORM } from '../../test/webhook-form.ts';
import { until } from '../../testing/until.ts';

const PER_OWNER_MAX = 3;

let database: Awaited<ReturnType<typeof createCommandDatabase>>;
let side: CommandSide;
const open = () =>
  database.open({ webhooks: { guard: { allowed: [], ports: 'any' }, perOwnerMax: PER_OWNER_MAX } });
beforeAll(async () => {
  database = await createCommandDatabase();
  side = await open();
});
afterAll(async () => {
  await side?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

const REGISTER = { type: 'RegisterWebhook', ...WEBHOOK_FORM } as const satisfies RegisterWebhook;

const register = (owner: UserId, context: { idempotencyKey?: string } = {}) =>
  side.send(REGISTER, by(as(owner), context));
const codeOf = (error: unknown) => (error instanceof Rejection ? error.code : error);

test('concurrent registrations never exceed the quota', async () => {
  const owner = await registerUser(side);
  const settled = await Promise.allSettled(Array.from({ length: 20 }, () => register(owner)));
  const refusals = settled.flatMap((each) => (each.status === 'rejected' ? [codeOf(each.reason)] : []));
  expect(refusals).toEqual(Array.from({ length: 20 - PER_OWNER_MAX }, () => 'quota_exceeded'));
  // Another owner has a separate quota.
  await register(await registerUser(side));
});

test('a deletion makes room, and registrations before a restart count', async () => {
  const owner = await registerUser(side);
  const made = [await register(owner), await register(owner), await register(owner)];
  await side.send({ type: 'DeleteWebhook', webhookId: made[0]?.id as WebhookId }, by(as(owner)));
  await until(
    () => register(owner).then(({ id }) => id, codeOf),
    (answer) => typeof answer === 'number',
  );
  await until(
    () => side.pool.query(`select from process_manager.member where parent = $1`, [`user-${owner}`]),
    ({ rowCount }) => rowCount === PER_OWNER_MAX,
  );
  await side[Symbol.asyncDispose]();
  side = await open();
  await expect(register(owner)).rejects.toMatchObject({
    code: 'quota_exceeded',
    details: { max: PER_OWNER_MAX },
  });
});

test('a deletion by another process makes room as well', async () => {
  await using other = await open();
  const owner = await registerUser(side);
  const made = [await register(owner), await register(owner), await register(owner)];
  await other.send({ type: 'DeleteWebhook', webhookId: made[0]?.id as WebhookId }, by(as(owner)));
  await until(
    () => register(owner).then(({ id }) => id, codeOf),
    (answer) => typeof answer === 'number',
  );
});

test('a retry with the same key gets the first response, even if the quota is exhausted', async () => {
  const owner = await registerUser(side);
  await register(owner);
  await register(owner);
  const last = await register(owner, { idempotencyKey: 'last' });
  expect(await register(owner, { idempotencyKey: 'last' })).toEqual(last);
});
