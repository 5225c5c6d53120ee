import { expect } from 'vitest';
import { sharedTest as test } from '../engines/installation-fixture.ts';
import { numbered } from '../engines/publishing.ts';

type Shown = { readonly cursor: string; readonly posts: readonly { readonly id: string }[] };
type Published = { readonly articlePublished: { readonly subjectId: string } };

const LOOKED_AT_MAX = 20;
/** The latest posts, which are ours, and some of before. */
const READ = '{ posts(limit: 100) { id } cursor }';
const FOLLOW = 'subscription ($after: Cursor) { articlePublished(after: $after) { subjectId } }';

test('an answer and the events after its cursor together contain everything once, even with concurrent writes', async ({
  graphql,
  openStream,
  publishing,
}) => {
  const next = numbered('Meanwhile');
  const writing = Promise.all(
    Array.from({ length: 4 }, async () => {
      const ids: string[] = [];
      for (let count = 0; count < 10; count += 1) ids.push(await publishing.publish(next()));
      return ids;
    }),
  );
  const answers: Shown[] = [];
  let isWritten = false;
  const written = writing.finally(() => {
    isWritten = true;
  });
  while (!isWritten) answers.push((await graphql<Shown>(READ)).data);
  const all = (await written).flat();
  expect(new Set(answers.map(({ cursor }) => cursor)).size).toBeGreaterThan(2);
  for (const { cursor, posts } of answers.filter(
    (_, index) => index % Math.ceil(answers.length / LOOKED_AT_MAX) === 0,
  )) {
    const shown = posts.map(({ id }) => id).filter((id) => all.includes(id));
    const stream = await openStream(FOLLOW, { variables: { after: cursor } });
    const received = await stream.results<Published>(all.length - shown.length);
    await stream.close();
    expect([...shown, ...received.map(({ data }) => data?.articlePublished.subjectId)].toSorted()).toEqual(
      all.toSorted(),
    );
  }
});

test('an answer that waited for a write has at least its cursor', async ({ graphql, publishing }) => {
  for (const query of [
    '{ cursor }',
    '{ ...C } fragment C on Query { now: cursor cursor _service { sdl } }',
  ]) {
    const token = await publishing.cursor();
    const { data } = await graphql<{ cursor: string }>(query, { headers: { 'consistency-token': token } });
    const [log, position] = data.cursor.split('-');
    const [ofToken, positionOfToken] = token.split('-');
    expect(log).toBe(ofToken);
    expect(Number.parseInt(position ?? '', 36)).toBeGreaterThanOrEqual(
      Number.parseInt(positionOfToken ?? '', 36),
    );
  }
});
