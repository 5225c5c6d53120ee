import { afterAll, beforeAll, expect, test } from 'vitest';
import { timeOfId } from '#shared/id-time.ts';
import { type Asker, type Backend, openBackend } from '../test/engines/backend.ts';

let world: Backend;
let author: Asker;
beforeAll(async () => {
  world = await openBackend({}, { creatorWaitsMs: 30_000 });
  author = await world.person('author');
  await world.ask('/users');
});
afterAll(() => world?.[Symbol.asyncDispose]());

const create = async (): Promise<string> => {
  const { body } = await world.ask('/articles', {
    method: 'POST',
    by: author,
    body: { title: 'One', body: '' },
  });
  return `/articles/${(body as { id: number }).id}`;
};
/** Sends no Consistency-Token. */
const get = async (path: string, by: Asker | null) =>
  fetch(`${world.url}${path}`, { headers: await world.authorization(by) });

test('a just created item is found without a token, also while the projector lags', async () => {
  await world.stopProjector();
  const path = await create();
  const [item, comments] = [get(path, author), get(`${path}/comments`, author)];
  // Nothing else waits: no anonymous read, no older id, and no id that we cannot have made.
  expect((await get(path, null)).status).toBe(404);
  for (const id of [8001, Number.MAX_SAFE_INTEGER])
    expect((await get(`/articles/${id}`, author)).status).toBe(404);
  await world.startProjector();
  expect([(await item).status, (await comments).status]).toEqual([200, 200]);
});

test('an id contains the time when it was made', async () => {
  const before = Date.now();
  const made = timeOfId(Number((await create()).split('/').at(-1)));
  expect(made).toBeGreaterThanOrEqual(before);
  expect(made).toBeLessThanOrEqual(Date.now() + 1);
});
