import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase } from '../engines/database.ts';
import { operate } from '../engines/installation.ts';
import { helpdesk } from './helpdesk.ts';
import { test as toy } from './toy-fixture.ts';

type Line = Readonly<Record<string, unknown>> & { readonly key: string };

type Imported = { readonly id: string; readonly importedAt?: string };

/** The lines of another helpdesk. */
const HISTORY: readonly Line[] = [
  {
    key: 'u-1',
    at: '2019-04-30T08:00:00Z',
    command: 'user.register',
    form: { name: 'Ada', role: 'customer' },
  },
  { key: 'u-2', at: '2019-04-30T08:00:00Z', command: 'user.register', form: { name: 'Bert', role: 'agent' } },
  {
    ...{ key: 't-1', at: '2019-05-01T12:00:00+02:00', actor: 'u-1', command: 'ticket.open' },
    form: { subject: 'Smoke', details: 'Since this morning.' },
  },
  {
    ...{ key: 'm-1', at: '2019-05-02T10:00:00Z', actor: 'u-2', command: 'ticket.reply', of: 't-1' },
    form: { text: 'Is it stil burning?' },
  },
  {
    ...{
      key: 'm-1-1',
      at: '2019-05-02T10:05:00Z',
      actor: 'u-2',
      command: 'ticket.correctMessage',
      of: 't-1',
    },
    ...{ item: 'm-1', form: { text: 'Is it still burning?' } },
  },
  { key: 't-1-1', at: '2019-06-01T10:00:00Z', actor: 'u-2', command: 'ticket.solve', of: 't-1' },
];

const test = toy
  .extend('history', { scope: 'file' }, () => HISTORY)
  .extend('place', { scope: 'file' }, async ({ history: _ }, { onCleanup }) => {
    const open = new AsyncDisposableStack();
    onCleanup(() => open.disposeAsync());
    const [database, dataDir] = [open.use(await createDatabase()), open.use(await temporaryDataDir())];
    const settings = {
      DATABASE_URL: database.url,
      MASTER_KEY: randomBytes(32).toString('base64'),
      // Of the server and of the command line.
      AUDIT_DIR: join(dataDir.path, 'audit'),
    };
    const importing = async (lines: readonly Line[]): Promise<string> => {
      const file = join(dataDir.path, 'history.ndjson');
      await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      return operate(['import', file], settings, helpdesk);
    };
    return { settings, importing, run: (...args: string[]) => operate(args, settings, helpdesk) };
  })
  .extend('imported', { scope: 'file' }, async ({ place: { importing }, history }) => [
    await importing(history.slice(0, 4)),
    await importing(history),
  ])
  .extend('installationOptions', { scope: 'file' }, ({ place: { settings }, imported: _ }) => ({
    of: { domain: helpdesk },
    settings,
  }))
  .extend(
    'asked',
    { scope: 'file' },
    async ({
      ask,
      people: {
        administrator: { token },
      },
    }) => {
      const read = async (path: string) => (await ask('GET', path, { token })).body as never;
      const [ticket] = (await read('/tickets')) as readonly { readonly id: number }[];
      return { read, id: ticket?.id ?? 0 };
    },
  );

test('each line is imported once, however often the file is', ({ imported: [first, again] }) => {
  expect(first).toContain('4 lines were imported, 0 were imported before, and 0 changed nothing.');
  expect(again).toContain('2 lines were imported, 4 were imported before, and 0 changed nothing.');
});

test('items and histories have the claimed times and authors', async ({ asked: { read, id } }) => {
  expect(await read(`/tickets/${id}`)).toMatchObject({
    ...{ subject: 'Smoke', status: 'solved', requester: { name: 'Ada' } },
    ...{ createdAt: '2019-05-01T10:00:00.000Z', updatedAt: '2019-06-01T10:00:00.000Z' },
  });
  expect(await read(`/tickets/${id}/messages`)).toMatchObject([
    { text: 'Is it still burning?', author: { name: 'Bert' }, sentAt: '2019-05-02T10:00:00.000Z' },
  ]);
});

test('histories name the claimed times and authors', async ({ asked: { read, id } }) => {
  const users = (await read('/users')) as readonly { readonly id: number; readonly name: string }[];
  const idOf = (name: string) => users.find((user) => user.name === name)?.id;
  expect(await read('/events?correlation=import:t-1')).toMatchObject([{ subject: `ticket-${id}` }]);
  const entries = (await read(`/tickets/${id}/history`)) as readonly object[];
  expect(entries.toReversed()).toMatchObject([
    { type: 'ticket.opened', at: '2019-05-01T10:00:00.000Z', actor: `user:${idOf('Ada')}` },
    { type: 'ticket.replied', at: '2019-05-02T10:00:00.000Z', actor: `user:${idOf('Bert')}` },
    { type: 'ticket.messageCorrected', at: '2019-05-02T10:05:00.000Z' },
    { type: 'ticket.solved', at: '2019-06-01T10:00:00.000Z', actor: `user:${idOf('Bert')}` },
  ]);
});

test('histories and feeds say which events an import recorded, to every reader', async ({
  asked: { read, id },
  ask,
  people,
}) => {
  const entries = (await read(`/tickets/${id}/history`)) as readonly Imported[];
  const nodes = entries.map(({ importedAt }) => ({ importedAt }));
  for (const { importedAt = '' } of entries)
    expect(Date.parse(importedAt)).toBeGreaterThan(Date.parse('2026-01-01'));
  const events = (await read(`/events?subject=ticket-${id}`)) as readonly Imported[];
  expect(events.toReversed().map(({ importedAt }) => ({ importedAt }))).toEqual(nodes);
  expect(await read(`/events/${entries[0]?.id}`)).toMatchObject({
    at: '2019-06-01T10:00:00.000Z',
    ...nodes[0],
  });
  expect(await read(`/tickets/${id}?at=v1`)).not.toHaveProperty('importedAt');
  const { token } = people.administrator;
  const query = `{ ticket(id: ${id}) { history { nodes { at importedAt } } } }`;
  const { body } = await ask('POST', '/graphql', { token, body: { query } });
  expect(body).toMatchObject({ data: { ticket: { history: { nodes } } } });
  // Later events were not imported.
  const registered = (await read('/events?types=user.registered&sort=-cursor')) as readonly Imported[];
  expect(registered.at(0)).not.toHaveProperty('importedAt');
});

test('the log has both times of an event, and all of it is proven', async ({ asked: _, place: { run } }) => {
  const [opened] = JSON.parse(
    `[${(await run('log', 'show', `ticket-${_.id}`, '--json')).trim().replaceAll('\n', ',')}]`,
  );
  const { at, importedAt, request } = opened.metadata;
  expect([at, request]).toEqual(['2019-05-01T10:00:00.000Z', 'import:t-1']);
  expect(Date.parse(importedAt)).toBeLessThanOrEqual(Date.parse(opened.recordedAt));
  expect(await run('log', 'show', `ticket-${_.id}`)).toContain('Z, imported as of 2019-05-01T10:00:00.000Z');
  expect(await run('audit', 'verify')).toContain('Proven');
});

test('a point in time is that of the claimed times, in items and in lists', async ({
  asked: { read, id },
}) => {
  expect(await read(`/tickets/${id}?at=2019-05-15T00:00:00Z`)).toMatchObject({ status: 'open' });
  expect(await read(`/tickets/${id}/messages?at=2019-05-02T10:02:00Z`)).toMatchObject([
    { text: 'Is it stil burning?' },
  ]);
  expect(await read('/tickets?at=2019-05-15T00:00:00Z')).toMatchObject([{ id, status: 'open' }]);
  expect(await read('/tickets?at=2019-05-01T00:00:00Z')).toEqual([]);
});
