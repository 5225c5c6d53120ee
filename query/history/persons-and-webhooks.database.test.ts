import { describe, expect } from 'vitest';
import type { WebhookId } from '#kernel/base/brands.ts';
import { type Asker, type Backend, test } from '../../test/engines/backend.ts';
import { as, by, draftArticle, system } from '../../test/engines/command-side.ts';
import type { CommentId } from '../../test/publishing-ids.ts';
import { until } from '../../testing/until.ts';

type Entry = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly changes: readonly { readonly field: string }[];
};
const historyOf = async (backend: Backend, path: string, asker: Asker | null): Promise<readonly Entry[]> => {
  const { status, body } = await backend.ask(`${path}/history`, { by: asker });
  expect([path, status]).toEqual([path, 200]);
  return body as Entry[];
};
const send = (backend: Backend, command: Parameters<Backend['side']['send']>[0], asker: Asker) =>
  backend.side.send(command, by(as(asker.id, asker.role)));

describe('of a user', () => {
  test('other callers see changes of the name only', async ({ admin, backend, reader }) => {
    const person = await backend.person('author', 'Grace');
    await send(backend, { type: 'UpdateUser', userId: person.id, email: 'grace@example.com' }, admin);
    await send(backend, { type: 'UpdateUser', userId: person.id, name: 'Grace H', role: 'reader' }, admin);
    const demoted = { ...person, role: 'reader' } as const;
    // A token issued in the same second as the change may be refused.
    const read = () => backend.ask(`/users/${person.id}/history`, { by: demoted });
    const { body } = await until(read, ({ status }) => status === 200);
    const fieldsOf = (entries: readonly Entry[]) =>
      entries.map(({ changes }) => changes.map(({ field }) => field));
    expect(fieldsOf(await historyOf(backend, `/users/${person.id}`, reader))).toEqual([['name'], ['name']]);
    expect(fieldsOf(body as readonly Entry[])).toEqual([
      ['name', 'role'],
      ['email'],
      ['name', 'email', 'role'],
    ]);
  });

  test('personal data of deleted users is null and marked as erased', async ({
    admin,
    author,
    backend,
    reader,
  }) => {
    const person = await backend.person('author', 'Mary Secretly');
    const articleId = await draftArticle(backend.side, author.id);
    const { id: commentId } = await send(
      backend,
      { type: 'AddComment', articleId, text: 'Nobody must know.' },
      person,
    );
    await send(backend, { type: 'UpdateUser', userId: person.id, name: 'Mary Openly' }, person);
    await send(backend, { type: 'DeleteUser', userId: person.id }, person);
    const entries = await historyOf(backend, `/users/${person.id}`, admin);
    expect(entries.map(({ type, erased }) => [type, erased])).toEqual([
      ['user.deleted', undefined],
      ['user.updated', true],
      ['user.registered', true],
    ]);
    expect(entries[2]?.changes).toContainEqual({ field: 'name', from: null, to: null });
    const [added] = await historyOf(backend, `/comments/${commentId}`, reader);
    expect(added).toMatchObject({
      erased: true,
      changes: expect.arrayContaining([{ field: 'text', from: null, to: null }]),
    });
    expect(JSON.stringify([entries, added])).not.toMatch(/Mary|Nobody must/);
    expect((await backend.ask(`/users/${person.id}/history`, { by: reader })).status).toBe(404);
  });
});

test('the history of a webhook shows its settings, and never a secret', async ({
  author,
  backend,
  reader,
}) => {
  const settings = {
    description: null,
    filter: {},
    payload: 'thin',
    ordered: false,
    limits: { ratePerSecond: 5, concurrency: 1 },
  } as const;
  const { id, secret } = await send(
    backend,
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
    backend,
    { type: 'EditWebhook', webhookId, url: 'https://example.com/2', limits: { concurrency: 2 } },
    author,
  );
  await send(backend, { type: 'RotateWebhookSecret', webhookId }, author);
  await backend.side.send({ type: 'DisableWebhook', webhookId, reason: 'failing' }, by(system));
  const entries = await historyOf(backend, `/webhooks/${webhookId}`, author);
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
  expect((await backend.ask(`/webhooks/${webhookId}/history`, { by: reader })).status).toBe(404);
});

test('the history of a comment shows its text', async ({ author, backend, reader }) => {
  const articleId = await draftArticle(backend.side, author.id);
  const { id } = await send(backend, { type: 'AddComment', articleId, text: 'Well said.' }, reader);
  await send(backend, { type: 'EditComment', commentId: id as CommentId, text: 'Very well said.' }, reader);
  const [edited] = await historyOf(backend, `/comments/${id}`, author);
  expect(edited?.changes).toEqual([{ field: 'text', from: 'Well said.', to: 'Very well said.' }]);
});
