import { dirname } from 'node:path';
import { expect } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import { placesOf } from '#shared/erasure/places.ts';
import { uploadsOf } from '#shared/erasure/uploads.ts';
import { type Asker, type Backend, test as base } from '../../test/engines/backend.ts';
import { scaled } from '../../testing/load.ts';
import { sectionsOf } from './sections.ts';
import { type Format, writeExport } from './write.ts';

type Exported = {
  readonly sections: readonly {
    readonly name: string;
    readonly records: readonly Readonly<Record<string, unknown>>[];
    readonly count: number;
  }[];
  readonly isComplete: boolean;
};

async function* none() {}
const NOTHING = {
  passkeys: none,
  'personal access tokens': none,
  'linked accounts': none,
  'sessions and grants': none,
};

const textOf = async ({ side }: Backend, userId: UserId, format: Format = 'json'): Promise<string> => {
  const signal = AbortSignal.timeout(scaled(20_000));
  const heading = { userId, at: '2026-01-01T00:00:00.000Z', by: 'system:test', domain: side.domain.name };
  const pieces = writeExport(format, heading, sectionsOf({ ...side, open: NOTHING }, userId, signal));
  return (await Array.fromAsync(pieces)).join('');
};

const exportOf = async (backend: Backend, { id }: Asker): Promise<Exported> =>
  JSON.parse(await textOf(backend, id)) as Exported;

const recordsIn = ({ sections }: Exported, name: string) =>
  sections.find((section) => section.name === name)?.records ?? [];

const test = base.extend('work', { scope: 'file' }, async ({ admin, author, backend, reader, write }) => {
  const article = await write(author, 'POST', '/articles', {
    ...{ title: 'On engines', body: 'Of my own', tags: [], publish: true },
  });
  const own = await write(author, 'POST', `/articles/${article}/comments`, { text: 'My own remark' });
  const other = await write(reader, 'POST', `/articles/${article}/comments`, { text: 'A remark of Rita' });
  const later = await write(admin, 'POST', '/articles', {
    ...{ title: 'By the editor', body: 'Not hers', tags: [], publish: true },
  });
  await write(author, 'POST', '/webhooks', {
    ...{ url: 'https://receiver.example/ada', eventTypes: ['*'], payload: 'thin' },
    headers: { 'X-Key': 'a-secret-value' },
  });
  // The read model has all of it afterwards.
  await backend.ask('/users', { by: admin });
  return { article, own, other, later };
});

test('an export has what a person owns and did, from the tables and from the log', async ({
  author,
  backend,
  work,
}) => {
  const exported = await exportOf(backend, author);
  expect(exported.isComplete).toBe(true);
  expect(recordsIn(exported, 'users')).toMatchObject([{ id: author.id, name: 'Ada' }]);
  expect(recordsIn(exported, 'articles')).toMatchObject([{ id: work.article, title: 'On engines' }]);
  expect(recordsIn(exported, 'comments')).toMatchObject([{ id: work.own, text: 'My own remark' }]);
  expect(recordsIn(exported, 'webhooks')).toMatchObject([{ url: 'https://receiver.example/ada' }]);
  const events = recordsIn(exported, 'events');
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'user.registered', data: expect.objectContaining({ name: 'Ada' }) }),
  );
  expect(events).toContainEqual(
    expect.objectContaining({
      ...{ type: 'comment.added', by: 'the person' },
      data: expect.objectContaining({ text: 'My own remark' }),
    }),
  );
});

test('an export has neither texts of other people nor secrets', async ({ admin, author, backend, work }) => {
  const text = await textOf(backend, author.id);
  for (const absent of ['A remark of Rita', 'Rita', 'By the editor', 'a-secret-value', 'whsec_', '"seal"'])
    expect(text.includes(absent), absent).toBe(false);
  expect(text).not.toContain(`user:${admin.id}`);
  expect(work.other).toBeGreaterThan(0);
});

test('each place that an erasure searches is in a section of the export, or a copy of one', async ({
  author,
  backend: { side },
  backend,
  work,
}) => {
  expect(work.article).toBeGreaterThan(0);
  const auditDir = dirname(side.erasures.path);
  const uploads = uploadsOf(side.domain, author.id);
  const places = await placesOf({ ...side, auditDir }, author.id, {
    ...{ sealed: 0, uploads, isKeyDestroyed: false, hasKey: true },
  });
  const exported = await exportOf(backend, author);
  const shown = new Map(recordsIn(exported, 'places').map((record) => [record.place, record]));
  const names = new Set(exported.sections.map(({ name }) => name));
  const searched = places.filter(({ verdict, place }) => place.includes('.') && /erased|left/.test(verdict));
  expect(searched.length).toBeGreaterThan(2);
  for (const { place } of searched) {
    const { sections = [], says } = (shown.get(place) ?? {}) as { sections?: string[]; says?: string };
    expect(says, place).toBeDefined();
    if (says?.startsWith('a copy of')) continue;
    expect(
      sections.some((name) => names.has(name)),
      place,
    ).toBe(true);
  }
  expect(
    places.map(({ place }) => place).filter((place) => !shown.has(place) && place.includes('.')),
  ).toEqual([]);
});

test('the page to read has no scripts, shows everything as text, and says that it is complete', async ({
  author,
  backend,
  write,
}) => {
  await write(author, 'POST', '/articles', {
    ...{ title: '<script>alert(1)</script>', body: '', tags: [], publish: true },
  });
  const page = await textOf(backend, author.id, 'html');
  expect(page).not.toContain('<script');
  expect(page).toContain('&lt;script&gt;alert(1)');
  expect(page).toContain('My own remark');
  expect(page.trimEnd()).toMatch(/This export is complete\.<\/strong><\/p>\n<\/main>\n<\/body>\n<\/html>$/);
});
