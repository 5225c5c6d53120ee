import { expect } from 'vitest';
import { timeOfId } from '#shared/id-time.ts';
import { type Asker, type Backend, test as base } from '../../test/engines/backend.ts';

const test = base.extend('backendOptions', { scope: 'file' }, { creatorWaitsMs: 30_000 });

test.beforeAll(async ({ backend }) => {
  await backend.ask('/users');
});
const create = async (author: Asker, backend: Backend): Promise<string> => {
  const { body } = await backend.ask('/articles', {
    method: 'POST',
    by: author,
    body: { title: 'One', body: '' },
  });
  return `/articles/${(body as { id: number }).id}`;
};
/** Sends no Consistency-Token. */
const get = async (backend: Backend, path: string, by: Asker | null) =>
  fetch(`${backend.url}${path}`, { headers: await backend.authorization(by) });

test('a just created item is found without a token, also while the projector lags', async ({
  author,
  backend,
}) => {
  await backend.stopProjector();
  const path = await create(author, backend);
  const [item, comments] = [get(backend, path, author), get(backend, `${path}/comments`, author)];
  // Nothing else waits: no anonymous read, no older id, and no id that we cannot have made.
  expect((await get(backend, path, null)).status).toBe(404);
  for (const id of [8001, Number.MAX_SAFE_INTEGER])
    expect((await get(backend, `/articles/${id}`, author)).status).toBe(404);
  await backend.startProjector();
  expect([(await item).status, (await comments).status]).toEqual([200, 200]);
});

test('an id contains the time when it was made', async ({ author, backend }) => {
  const before = Date.now();
  const made = timeOfId(Number((await create(author, backend)).split('/').at(-1)));
  expect(made).toBeGreaterThanOrEqual(before);
  expect(made).toBeLessThanOrEqual(Date.now() + 1);
});
