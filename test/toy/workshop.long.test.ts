import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { openPeople, type Person } from '../../testing/http/people.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { restSessionOver } from '../../testing/http/rest-session.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase } from '../engines/database.ts';
import { type Installation, operate, startInstallation } from '../engines/installation.ts';
import { nextWorkshop, workshop } from './workshop.ts';

const merge = 'application/merge-patch+json';
const FIELDS = 'title slug hours isLong initial words';

test('an author’s SQL and code work on every surface, and changes to them are rebuilt live', async () => {
  await using database = await createDatabase();
  await using folder = await temporaryDataDir();
  const settings = {
    DATABASE_URL: database.url,
    DATA_DIR: folder.path,
    MASTER_KEY: randomBytes(32).toString('base64'),
  };
  const left = await (async () => {
    await using installation = await startInstallation({
      settings,
      of: { domain: workshop },
    });
    return { admin: installation.admin, id: await first(installation, database.url) };
  })();

  await using installation = await startInstallation({
    settings,
    admin: left.admin,
    of: { domain: nextWorkshop },
  });
  const status = async () =>
    JSON.parse(await operate(['projection', 'status', '--json'], installation.settings, nextWorkshop)).live;
  expect(await status()).toMatchObject({ isOfThisRelease: false });
  await operate(['projection', 'rebuild'], installation.settings, nextWorkshop);
  expect(await status()).toMatchObject({ isOfThisRelease: true });
  const shown = async () => (await restClientOf(installation)('GET', `/courses/${left.id}`)).body;
  await until(shown, (body) => (body as { slug?: string }).slug === 'course-on-wood-ii');
  expect(await operate(['audit', 'verify'], installation.settings, nextWorkshop)).toContain('Proven');
});

const first = async (installation: Installation, databaseUrl: string): Promise<number> => {
  const people = await openPeople(installation);
  const session = restSessionOver(restClientOf(installation));
  const graphql = async (query: string, by?: Person) =>
    graphqlClientOf(installation)(query, { token: by?.token });
  const ada = await people.signUp('Ada');
  const write = async (title: string, minutes: number, seats: number, text = ''): Promise<number> => {
    const { written } = await session.write('POST', '/courses', {
      token: ada.token,
      body: { title, minutes, seats, text },
    });
    await session.write('POST', `/courses/${written.id}/open`, { token: ada.token });
    return written.id;
  };
  const wood = await write('On wood', 90, 12, 'Saws and  planes');
  const steel = await write('On Steel', 200, 40);
  await write('Glass', 30, 30, 'One');
  const titles = async (query: string) =>
    (await session.read<readonly { readonly title: string }[]>(`/courses?sort=createdAt${query}`)).body.map(
      ({ title }) => title,
    );
  await until(
    () => titles(''),
    (all) => all.length === 3,
  );

  // Lists are filtered, together with other filters.
  const asked = [
    ['&seatsMin=30', ['On Steel', 'Glass']],
    ['&begins=on', ['On wood', 'On Steel']],
    ['&begins=on&seatsMin=13', ['On Steel']],
    ['&roomy=true', ['On Steel']],
    ['&roomy=false', ['On wood', 'Glass']],
    ['&begins=on%27%20or%20true%20--', []],
    ['&slug=on-steel', ['On Steel']],
  ] as const;
  for (const [query, found] of asked) expect(await titles(query), query).toEqual(found);
  expect((await session.read('/courses?seatsMin=many')).status).toBe(400);
  const connection = `{ coursesConnection(first: 5, filter: { seatsMin: 30, begins: "o" }) { totalCount nodes { title } } }`;
  expect(await graphql(connection)).toMatchObject({
    data: { coursesConnection: { totalCount: 1, nodes: [{ title: 'On Steel' }] } },
  });

  // A field of GraphQL is the same if planned, if resolved field by field after a mutation, and in time
  // travel.
  const ofWood = { title: 'On wood', slug: 'on-wood', hours: 1, isLong: false, initial: 'O', words: 3 };
  const ofSteel = { title: 'On Steel', slug: 'on-steel', hours: 3, isLong: true, initial: 'O', words: null };
  expect(
    await graphql(`{ course(id: ${wood}) { ${FIELDS} } courses(filter: { roomy: true }) { ${FIELDS} } }`),
  ).toMatchObject({
    data: { course: ofWood, courses: [ofSteel] },
  });
  expect(await graphql(`mutation { openCourse(id: ${steel}) { ${FIELDS} } }`, ada)).toMatchObject({
    data: { openCourse: ofSteel },
  });
  expect(
    await graphql(
      `mutation { updateCourse(id: ${wood}, changes: { title: "On wood II", minutes: 130 }) { ${FIELDS} } }`,
      ada,
    ),
  ).toMatchObject({
    data: { updateCourse: { title: 'On wood II', slug: 'on-wood-ii', hours: 2, isLong: true } },
  });
  expect(await graphql(`{ course(id: ${wood}, at: "v1") { ${FIELDS} } }`, ada)).toMatchObject({
    data: { course: ofWood },
  });
  const renamed = await session.write('PATCH', `/courses/${steel}`, {
    token: ada.token,
    type: merge,
    body: { title: 'Of steel' },
  });
  const then = encodeURIComponent(renamed.headers.get('consistency-token') ?? '');
  await session.write('PATCH', `/courses/${steel}`, { token: ada.token, type: merge, body: { seats: 5 } });
  expect(await titles('&seatsMin=30')).toEqual(['Glass']);
  expect(await titles(`&seatsMin=30&at=${then}`)).toEqual(['Of steel', 'Glass']);
  expect(await titles(`&begins=on&at=${then}`)).toEqual(['On wood II']);

  // A value derived from an event is part of the row, its history, and its proof.
  const { body: history } = await session.read<readonly { changes?: readonly unknown[] }[]>(
    `/courses/${wood}/history`,
    {
      token: ada.token,
    },
  );
  expect(history[0]?.changes).toContainEqual({ field: 'slug', from: 'on-wood', to: 'on-wood-ii' });
  expect((await session.read(`/courses/${wood}?at=v1`, { token: ada.token })).body).toMatchObject({
    slug: 'on-wood',
  });
  const verify = () => operate(['audit', 'verify'], installation.settings, workshop);
  expect(await verify()).toContain('Proven');
  const set = (slug: string) =>
    inDatabase(
      databaseUrl,
      async (client) =>
        void (await client.query(`update read_model.courses set slug = $1 where id = $2`, [slug, wood])),
    );
  await set('on-glass');
  await expect(verify()).rejects.toThrow(/row different/);
  await set('on-wood-ii');
  expect(await verify()).toContain('Proven');

  // A route of its own is for users who may read everything.
  const bert = await people.signUp('Bert');
  await session.write('POST', '/courses', {
    token: bert.token,
    body: { title: 'Hidden', minutes: 10, seats: 50 },
  });
  const summary = (query: string, token?: string) =>
    session.read<readonly object[]>(`/course-summary${query}`, { token });
  const { token } = people.administrator;
  const of = ({ userId }: Person, name: string, [courses, minutes, seats]: readonly (number | null)[]) => ({
    teacherId: userId,
    name,
    courses,
    minutes,
    seats,
    newest: expect.any(String),
    mine: false,
  });
  const all = await summary('', token);
  expect([all.status, all.body]).toEqual([
    200,
    [of(ada, 'Ada', [3, 360, null]), of(bert, 'Bert', [1, 10, 50])],
  ]);
  expect((await summary('?seatsMin=30&status=open', token)).body).toEqual([of(ada, 'Ada', [1, 30, null])]);
  expect((await summary('', ada.token)).body).toMatchObject({ code: 'forbidden' });
  expect((await summary('')).body).toMatchObject({ code: 'unauthenticated' });
  expect((await summary('?seats=1', token)).status).toBe(400);
  expect((await summary('?seatsMin=1;drop', token)).status).toBe(400);
  expect(
    (await restClientOf(installation)('POST', '/course-summary', { token, body: {} })).headers.get('allow'),
  ).toContain('GET');

  // The OpenAPI document describes all of it.
  const { body: openapi } = await restClientOf(installation)('GET', '/openapi.json');
  expect(JSON.stringify(openapi)).toContain('Only courses with at least this many seats.');
  expect(openapi).toMatchObject({
    paths: { '/course-summary': { get: { operationId: 'summarizeCourses' } } },
  });
  expect(await operate(['graphql', 'schema'], installation.settings, workshop)).toContain(
    'How many words its text has; null without any.',
  );
  return wood;
};
