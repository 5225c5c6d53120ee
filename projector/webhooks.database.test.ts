import { expect } from 'vitest';
import type { UserId, WebhookId } from '#kernel/base/brands.ts';
import { digestOf } from '#shared/projection/digest.ts';
import { as, by, type CommandSide, registerUser, system } from '../test/engines/command-side.ts';
import { EVENT_SCOPES } from '../test/engines/policy.ts';
import { test } from '../test/engines/processes.ts';
import { replayed, untilProjected } from '../test/engines/projection.ts';
import { WEBHOOK_FORM } from '../test/webhook-form.ts';
import { until } from '../testing/until.ts';

test.beforeAll(({ projector }) => projector.start());

const rowOf = async (side: CommandSide, webhookId: number): Promise<Record<string, unknown> | undefined> => {
  await untilProjected(side);
  return (await side.pool.query('select * from read_model.webhooks where id = $1', [webhookId])).rows[0];
};

const register = (side: CommandSide, owner: UserId) =>
  side.send(
    {
      ...{ type: 'RegisterWebhook', ...WEBHOOK_FORM, description: 'The shop', eventTypes: ['article.*'] },
      ...{ filter: { authorId: owner }, headers: { Authorization: 'Bearer of.tokens' } },
    },
    by(as(owner)),
  );

test('a webhook matches the events, without secret and without values of headers', async ({ side }) => {
  const owner = await registerUser(side);
  const { id, secret } = await register(side, owner);
  const row = await rowOf(side, id);
  expect(row).toMatchObject({
    ...{
      owner_id: owner,
      url: 'https://example.com/hooks',
      description: 'The shop',
      event_types: ['article.*'],
      payload: 'thin',
    },
    ...{
      filter_article_id: null,
      filter_author_id: owner,
      is_ordered: false,
      rate_per_second: 50,
      concurrency: 10,
    },
    ...{
      header_names: ['Authorization'],
      scopes: EVENT_SCOPES,
      is_enabled: true,
      disabled_reason: null,
      missed_since: null,
      old_secrets_end_at: null,
      version: 1,
    },
  });
  expect(JSON.stringify(row)).not.toContain('of.tokens');
  expect(JSON.stringify(row)).not.toContain(secret);

  const webhookId = id as WebhookId;
  const context = by(as(owner));
  await side.send(
    {
      type: 'EditWebhook',
      webhookId,
      ordered: true,
      headers: { 'X-Team': 'blue' },
      filter: { authorId: null },
    },
    context,
  );
  await side.send({ type: 'RotateWebhookSecret', webhookId }, context);
  const narrow = as(owner, 'author', ['read:articles', 'write:articles', 'manage:webhooks']);
  await side.send({ type: 'EditWebhook', webhookId, payload: 'full', format: 'cloudevents' }, by(narrow));
  expect(await rowOf(side, id)).toMatchObject({
    ...{
      is_ordered: true,
      header_names: ['Authorization', 'X-Team'],
      filter_author_id: null,
      url: 'https://example.com/hooks',
    },
    ...{
      old_secrets_end_at: expect.any(Date),
      version: 4,
      payload: 'full+cloudevents',
      scopes: ['read:articles', 'manage:webhooks'],
    },
  });
  await side.send({ type: 'DeleteWebhook', webhookId }, context);
  expect(await rowOf(side, id)).toBeUndefined();
});

test('missed changes are reported until their replay is requested', async ({ side }) => {
  const owner = await registerUser(side);
  const webhookId = (await register(side, owner)).id as WebhookId;
  const context = by(as(owner));
  await side.send({ type: 'DisableWebhook', webhookId, reason: 'failing' }, by(system));
  expect(await rowOf(side, webhookId)).toMatchObject({
    is_enabled: false,
    disabled_reason: 'failing',
    missed_since: expect.any(Number),
  });
  await side.send({ type: 'EnableWebhook', webhookId }, context);
  const enabled = await rowOf(side, webhookId);
  expect(enabled).toMatchObject({
    is_enabled: true,
    disabled_reason: null,
    missed_since: expect.any(Number),
    version: 3,
  });
  await side.send({ type: 'ReplayWebhook', webhookId }, context);
  // A request changes only the version of the webhook.
  expect(await rowOf(side, webhookId)).toMatchObject({
    missed_since: null,
    version: 4,
    updated_at: enabled?.updated_at,
  });
  await side.send({ type: 'DisableWebhook', webhookId, reason: 'owner' }, context);
  expect(await rowOf(side, webhookId)).toMatchObject({
    is_enabled: false,
    disabled_reason: 'owner',
    missed_since: null,
  });
});

test('a deleted user’s webhooks are deleted, and a replay gives the same', async ({ side }) => {
  const owner = await registerUser(side);
  const { id } = await register(side, owner);
  await rowOf(side, id);
  await side.send({ type: 'DeleteUser', userId: owner }, by(as(owner)));
  await until(
    () => side.keys.find([owner]),
    (keys) => keys.get(owner) === 'destroyed',
  );
  expect(await rowOf(side, id)).toBeUndefined();
  expect(await replayed(side)).toEqual(await digestOf(side.pool, 'read_model'));
});
