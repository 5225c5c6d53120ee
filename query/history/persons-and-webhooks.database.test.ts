import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WebhookId } from '#shared/brands.ts';
import { type Asker, type Backend, openBackend } from '../../test/engines/backend.ts';
import { as, by, draftArticle, system } from '../../test/engines/command-side.ts';
import type { CommentId } from '../../test/publishing-ids.ts';
import { until } from '../../testing/until.ts';

let world: Backend;
let author: Asker;
let reader: Asker;
let admin: Asker;
beforeAll(async () => {
  world = await openBackend();
  [author, reader, admin] = [
    await world.person('author', 'Ada'),
    await world.person('reader', 'Rita'),
    await world.person('admin', 'Nora'),
  ];
});
afterAll(() => world?.[Symbol.asyncDispose]());

type Entry = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly changes: readonly { readonly field: string }[];
};
const historyOf = async (path: string, asker: Asker | null): Promise<readonly Entry[]> => {
  const { status, body } = await world.ask(`${path}/history`, { by: asker });
  expect([path, status]).toEqual([path, 200]);
  return body as Entry[];
};
const send = (command: Parameters<Backend['side']['send']>[0], asker: Asker) =>
  world.side.send(command, by(as(asker.id, asker.role)));

describe('of a user', () => {
  test('other callers see changes of the name only', async () => {
    const person = await world.person('author', 'Grace');
    await send({ type: 'UpdateUser', userId: person.id, email: 'grace@example.com' }, admin);
    await send({ type: 'UpdateUser', userId: person.id, name: 'Grace H', role: 'reader' }, admin);
    const demoted = { ...person, role: 'reader' } as const;
    // A token issued in the same second as the change may be refused.
    const read = () => world.ask(`/users/${person.id}/history`, { by: demoted });
    const { body } = await until(read, ({ status }) => status === 200);
    const fieldsOf = (entries: readonly Entry[]) =>
      entries.map(({ changes }) => changes.map(({ field }) => field));
    expect(fieldsOf(await historyOf(`/users/${person.id}`, reader))).toEqual([['name'], ['name']]);
    expect(fieldsOf(body as readonly Entry[])).toEqual([
      ['name', 'role'],
      ['email'],
      ['name', 'email', 'role'],
    ]);
  });

  test('personal data of deleted users is null and marked as erased', async () => {
    const person = await world.person('author', 'Mary Secretly');
    const articleId = await draftArticle(world.side, author.id);
    const { id: commentId } = await send(
      { type: 'AddComment', articleId, text: 'Nobody must know.' },
      person,
    );
    await send({ type: 'UpdateUser', userId: person.id, name: 'Mary Openly' }, person);
    await send({ type: 'DeleteUser', userId: person.id }, person);
    const entries = await historyOf(`/users/${person.id}`, admin);
    expect(entries.map(({ type, erased }) => [type, erased])).toEqual([
      ['user.deleted', undefined],
      ['user.updated', true],
      ['user.registered', true],
    ]);
    expect(entries[2]?.changes).toContainEqual({ field: 'name', from: null, to: null });
    const [added] = await historyOf(`/comments/${commentId}`, reader);
    expect(added).toMatchObject({
      erased: true,
      changes: expect.arrayContaining([{ field: 'text', from: null, to: null }]),
    });
    expect(JSON.stringify([entries, added])).not.toMatch(/Mary|Nobody must/);
    expect((await world.ask(`/users/${person.id}/history`, { by: reader })).status).toBe(404);
  });
});

test('the history of a webhook shows its settings, and never a secret', async () => {
  const settings = {
    description: null,
    filter: {},
    payload: 'thin',
    ordered: false,
    limits: { ratePerSecond: 5, concurrency: 1 },
  } as const;
  const { id, secret } = await send(
    {
      type: 'RegisterWebhook',
      ...settings,
      url: 'https://example.com/1',
      eventTypes: ['*'],
      headers: { 'X-Key': 'hushhush' },
      enabled: true,
    },
    author,
  );
  const webhookId = id as WebhookId;
  await send(
    { type: 'EditWebhook', webhookId, url: 'https://example.com/2', limits: { concurrency: 2 } },
    author,
  );
  await send({ type: 'RotateWebhookSecret', webhookId }, author);
  await world.side.send({ type: 'DisableWebhook', webhookId, reason: 'failing' }, by(system));
  const entries = await historyOf(`/webhooks/${webhookId}`, author);
  expect(entries.map(({ changes }) => changes)).toMatchObject([
    [
      { field: 'enabled', from: true, to: false },
      { field: 'disabledReason', from: null, to: 'failing' },
      { field: 'missedSince', to: expect.stringMatching(/^[0-9a-f]{8}-/) },
    ],
    [{ field: 'secretsEndAt' }],
    [
      { field: 'url', from: 'https://example.com/1', to: 'https://example.com/2' },
      { field: 'limits.concurrency', from: 1, to: 2 },
    ],
    expect.arrayContaining([{ field: 'headers', from: null, to: ['X-Key'] }]),
  ]);
  expect(JSON.stringify(entries)).not.toContain('hushhush');
  expect(JSON.stringify(entries)).not.toContain(secret ?? 'whsec_');
  expect((await world.ask(`/webhooks/${webhookId}/history`, { by: reader })).status).toBe(404);
});

test('the history of a comment shows its text', async () => {
  const articleId = await draftArticle(world.side, author.id);
  const { id } = await send({ type: 'AddComment', articleId, text: 'Well said.' }, reader);
  await send({ type: 'EditComment', commentId: id as CommentId, text: 'Very well said.' }, reader);
  const [edited] = await historyOf(`/comments/${id}`, author);
  expect(edited?.changes).toEqual([{ field: 'text', from: 'Well said.', to: 'Very well said.' }]);
  expect((await world.ask(`/comments/${id}/history`)).status).toBe(401);
});
