// Over 200 lines, because every import is compared with the one system that is set up here.
import { join } from 'node:path';
import { expect } from 'vitest';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { openBackend } from '../../test/engines/backend.ts';
import { callLine } from '../../test/engines/call-line.ts';
import { createCommandDatabase } from '../../test/engines/command-side.ts';
import { temporaryDataDir } from '../../test/engines/data-dir.ts';
import { startEventStoreStandIn } from '../../test/engines/eventstoredb/server.ts';
import { aKey, endorsed, signAnew } from '../../test/engines/forged-export.ts';
import { inTheDatabase } from '../../test/engines/log-engines.ts';
import { test as processes } from '../../test/engines/processes.ts';
import { answersOf, writeSample } from '../../test/engines/sample-system.ts';
import { migrateLedger } from '../../webhook-dispatcher/ledger/migrate.ts';

const test = processes
  /** The log of the first system: in its database, until it is moved. */
  .extend('log', { scope: 'file' }, () => inTheDatabase())
  .extend('databaseOptions', { scope: 'file' }, ({ log }) => ({ startLog: async () => log }))
  .extend('system', { scope: 'file' }, ({ database }) => database)
  .extend('story', { scope: 'file' }, async ({ system }) => {
    await using backend = await openBackend({}, { on: system });
    return await writeSample(backend);
  })
  .extend('answers', { scope: 'file' }, ({ story, system }) => answersOf(story, { on: system }))
  .extend('folder', { scope: 'file' }, ({ story: _exported }, { onCleanup }) => {
    const used = new AsyncDisposableStack();
    onCleanup(() => used.disposeAsync());
    return async () => join(used.use(await temporaryDataDir()).path, 'export');
  });

const headIn = (lines: readonly string[]) =>
  /head(?: of their chain)?,? ([0-9a-f]{64})/.exec(lines.join('\n'))?.[1];

test('an export into an empty system gives the same responses to everyone', async ({
  answers,
  folder,
  story,
  system,
}) => {
  const path = await folder();
  const exported = await callLine(system.settings, ['log', 'export', path, '--keys']);
  expect(exported).toMatchObject({ exit: 0 });
  await using copy = await createCommandDatabase({ masterKey: system.settings.MASTER_KEY });
  const imported = await callLine(copy.settings, ['log', 'import', path]);
  expect(imported).toMatchObject({ exit: 0, complaint: '' });
  expect(headIn(imported.lines)).toBe(headIn(exported.lines));
  expect(await answersOf(story, { on: copy })).toEqual(answers);
  expect(await callLine(copy.settings, ['audit', 'verify'])).toMatchObject({ exit: 0 });
  const again = await callLine(copy.settings, ['log', 'import', path]);
  expect(again, again.complaint).toMatchObject({
    exit: 0,
    lines: expect.arrayContaining([expect.stringContaining('0 events were imported')]),
  });
});

test('an import without the keys of persons is refused, or imports them as erased', async ({
  folder,
  story,
  system,
}) => {
  const path = await folder();
  await callLine(system.settings, ['log', 'export', path]);
  await using copy = await createCommandDatabase();
  const refused = await callLine(copy.settings, ['log', 'import', path]);
  expect(refused).toMatchObject({
    exit: 1,
    complaint: expect.stringMatching(/The keys of \d persons .* --without-keys/),
  });
  expect(await callLine(copy.settings, ['log', 'import', path, '--without-keys'])).toMatchObject({ exit: 0 });
  await using backend = await openBackend({}, { on: copy });
  const admin = await backend.person('admin', 'New here');
  const { body } = await backend.ask('/articles?limit=100', { by: admin });
  const authors = (body as readonly { readonly author: { readonly name: string } }[]).map(
    ({ author }) => author.name,
  );
  expect(authors.length).toBeGreaterThan(1);
  expect(
    JSON.stringify(await Promise.all(story.paths.map((path) => backend.ask(path, { by: admin })))),
  ).not.toMatch(/Ada|Rita|rita@|Well said/);
});

test('a log with other events is refused before anything is written, in any table', async ({
  folder,
  system,
}) => {
  const path = await folder();
  await callLine(system.settings, ['log', 'export', path, '--keys']);
  await using other = await createCommandDatabase({ masterKey: system.settings.MASTER_KEY });
  {
    await using backend = await openBackend({}, { on: other });
    await backend.person('author', 'Lives here');
  }
  await using pool = openPool({
    url: other.settings.DATABASE_URL ?? '',
    applicationName: 'test',
    connectionsMax: 1,
  });
  await migrateLedger(pool);
  const theirs = await personsOf(system.settings.DATABASE_URL ?? '');
  const [destroyed] = theirs.filter(({ destroyed_at }) => destroyed_at !== null);
  const [living] = theirs.filter(({ destroyed_at }) => destroyed_at === null);
  // Numbers of persons may be the same in both systems.
  await pool.query('insert into public.person_key (subject, wrapped) values ($1, $2)', [
    destroyed?.subject,
    living?.wrapped,
  ]);
  const before = await contentOf(pool);
  expect(Object.keys(before)).toEqual(expect.arrayContaining(['public.person_key', 'webhook_ledger.quiet']));
  const refused = await callLine(other.settings, ['log', 'import', path]);
  expect(refused).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('is neither empty nor the start of this'),
  });
  expect(await contentOf(pool)).toEqual(before);
});

test('an export is imported only from the expected signer, whose key is shown otherwise, before anything is written', async ({
  folder,
  system,
}) => {
  const path = await folder();
  await callLine(system.settings, ['log', 'export', path, '--keys']);
  const [first, second, forger] = [aKey(), aKey(), aKey()];
  const known = [endorsed(first), endorsed(second, first)];
  await using copy = await createCommandDatabase({ masterKey: system.settings.MASTER_KEY });
  await using pool = openPool({
    url: copy.settings.DATABASE_URL ?? '',
    applicationName: 'test',
    connectionsMax: 1,
  });
  const before = await contentOf(pool);
  const refused = async (args: readonly string[], complaint: string) => {
    expect(await callLine(copy.settings, ['log', 'import', path, ...args])).toMatchObject({
      exit: 1,
      complaint: expect.stringContaining(complaint),
    });
    expect(await contentOf(pool)).toEqual(before);
  };
  await refused(['--key=of-another'], 'is signed neither by the key of-another');
  await signAnew(path, known, first);
  await refused([`--key=${second.id}`], `is signed neither by the key ${second.id}`);
  await signAnew(path, [...known, endorsed(forger, first)], forger);
  await refused(
    [`--key=${second.id}`],
    `The key ${forger.id} of this export is not endorsed by the one before it`,
  );
  // The output comes before the error.
  await using other = await createCommandDatabase({ masterKey: system.settings.MASTER_KEY });
  await signAnew(path, known, second);
  const { lines } = await callLine(other.settings, ['log', 'import', path]);
  expect(lines[0]).toContain(`signed by the key ${second.id}, which is in the export itself`);
  expect(lines.findIndex((line) => line.includes('events were imported'))).toBeGreaterThan(0);
  expect(await callLine(copy.settings, ['log', 'import', path, `--key=${first.id}`])).toMatchObject({
    exit: 0,
  });
});

const personsOf = async (url: string) => {
  await using pool = openPool({ url, applicationName: 'test', connectionsMax: 1 });
  return (
    await pool.query<{ subject: string; wrapped: Buffer | null; destroyed_at: Date | null }>(
      'select * from public.person_key',
    )
  ).rows;
};

/** The content of each table, as text. */
const contentOf = async (pool: Pool): Promise<Readonly<Record<string, string>>> => {
  const { rows } = await pool.query<{ name: string; content: string }>(
    `select table_schema || '.' || table_name as name,
       query_to_xml(format('select t::text as line from %I.%I t order by 1', table_schema, table_name), true, true, '')::text as content
     from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  return Object.fromEntries(rows.map(({ name, content }) => [name, content]));
};

test('keys under another master key are refused before anything is written', async ({ folder, system }) => {
  const path = await folder();
  await callLine(system.settings, ['log', 'export', path, '--keys']);
  await using copy = await createCommandDatabase();
  const refused = await callLine(copy.settings, ['log', 'import', path]);
  expect(refused).toMatchObject({ exit: 1, complaint: expect.stringContaining('MASTER_KEY does not match') });
  expect(
    await callLine({ ...copy.settings, MASTER_KEY: system.settings.MASTER_KEY }, ['log', 'import', path]),
  ).toMatchObject({ exit: 0 });
});

test('a log that is copied to EventStoreDB gives the same responses to everyone, and keeps the database', async ({
  folder,
  log,
  story,
  system,
}) => {
  await using standIn = await startEventStoreStandIn();
  const to = ['log', 'copy', '--to', standIn.address];
  expect(await callLine(system.settings, to)).toMatchObject({ exit: 0, complaint: '' });
  {
    await using backend = await openBackend({}, { on: system });
    await backend.person('reader', 'Late');
    expect(await callLine(system.settings, [...to, '--switch'])).toMatchObject({
      exit: 1,
      complaint: expect.stringContaining('Annals runs'),
    });
  }
  const answers = await answersOf(story, { on: system });
  const switched = await callLine(system.settings, [...to, '--switch']);
  expect(switched).toMatchObject({ exit: 0, complaint: '' });
  await expect(answersOf(story, { on: system })).rejects.toThrow('has followed the event log');
  log.url = standIn.address;
  expect(await answersOf(story, { on: system })).toEqual(answers);
  const verified = await callLine({ ...system.settings, EVENT_LOG_URL: log.url }, ['audit', 'verify']);
  expect(verified, verified.lines.join('\n')).toMatchObject({ exit: 0 });
  const path = await folder();
  const exported = await callLine({ ...system.settings, EVENT_LOG_URL: log.url }, [
    'log',
    'export',
    path,
    '--keys',
  ]);
  expect(headIn(exported.lines)).toBe(headIn(switched.lines));
  await moveToPrefix({ ...system.settings, EVENT_LOG_URL: log.url }, headIn(switched.lines));
  await using back = await createCommandDatabase({ masterKey: system.settings.MASTER_KEY });
  expect(await callLine(back.settings, ['log', 'import', path])).toMatchObject({ exit: 0 });
  expect(await answersOf(story, { on: back })).toEqual(answers);
});

/** Beside the former log, on the same server. */
const moveToPrefix = async (settings: NodeJS.ProcessEnv, head: string | undefined): Promise<void> => {
  const to = ['log', 'copy', '--to', settings.EVENT_LOG_URL ?? ''];
  expect(await callLine(settings, to)).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('is the log to copy from'),
  });
  const switched = await callLine(settings, [...to, '--to-prefix', 'moved', '--switch']);
  expect(switched).toMatchObject({ exit: 0, complaint: '' });
  expect(switched.lines.join('\n')).toContain('EVENT_LOG_PREFIX to moved');
  expect(headIn(switched.lines)).toBe(head);
  expect(await callLine(settings, ['audit', 'verify'])).toMatchObject({
    exit: 2,
    complaint: expect.stringContaining('has another or none: set both back'),
  });
  const verified = await callLine({ ...settings, EVENT_LOG_PREFIX: 'moved' }, ['audit', 'verify']);
  expect(verified, verified.lines.join('\n')).toMatchObject({ exit: 0 });
};
