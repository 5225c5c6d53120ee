// Over 200 lines, because it is one server of development, which all tests change and ask in the same way.
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test as base, expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { runAnnals, spawnAnnals } from '../annals-process.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';

// Own server: it restarts whenever a file of its domain changes.

const ROOT = join(import.meta.dirname, '../..');
const CREATE = join(ROOT, 'create/create-annals.ts');
const NOTE = 'domain/note.ts';
const STATUS = "    status: states('draft', 'published'),\n";

type Access = {
  readonly url: string;
  readonly client: { readonly clientId: string; readonly secret: string };
};
type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

const test = base
  .extend('place', async ({ task: _task }, { onCleanup }) => {
    const made = await temporaryDataDir();
    onCleanup(() => made[Symbol.asyncDispose]());
    return made;
  })
  /** A project whose package is this checkout. */
  .extend('folder', async ({ place }) => {
    const { exit, output } = await runAnnals([CREATE, 'fresh', '--no-install'], {}, { folder: place.path });
    expect(exit, output).toBe(0);
    const folder = join(place.path, 'fresh');
    await mkdir(join(folder, 'node_modules'));
    await symlink(ROOT, join(folder, 'node_modules/annals'));
    return folder;
  })
  .extend('developing', async ({ folder }, { onCleanup }) => {
    const annals = spawnAnnals(['main.ts', 'dev'], { LOG_LEVEL: 'warn' }, { folder });
    onCleanup(async () => {
      annals.child.kill('SIGTERM');
      await annals.exited;
      await annals[Symbol.asyncDispose]();
    });
    await annals.said(/Files of the domain are watched/);
    return annals;
  })
  .extend('project', ({ folder, developing }) => {
    const change = async (path: string, edit: (text: string) => string): Promise<void> => {
      const at = join(folder, path);
      await writeFile(at, edit(await readFile(at, 'utf8')));
    };
    const access = async (): Promise<Access> =>
      JSON.parse(await readFile(join(folder, '.data/development-access.json'), 'utf8')) as Access;
    // Not by the command line, which cannot load a refused declaration.
    const tokenFor = async (scope?: string): Promise<string> => {
      const { url, client } = await access();
      const granted = await fetch(new URL('/token', url), {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${client.clientId}:${client.secret}`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }) }),
      });
      return ((await granted.json()) as { readonly access_token: string }).access_token;
    };
    const ask = async (method: string, path: string, body?: object, more = {}): Promise<Answer> => {
      const { url } = await access();
      const response = await fetch(new URL(path, url), {
        method,
        headers: {
          authorization: `Bearer ${await tokenFor()}`,
          ...(body && { 'content-type': 'application/json' }),
          ...more,
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Answer['body'] };
    };
    const read = (text: string): string => join(folder, text);
    return { ask, change, developing, folder, read, tokenFor };
  });

test('serves what is saved, keeps what was served while that is refused, and says what breaks', async ({
  project: { ask, change, developing },
}) => {
  const made = await ask('POST', '/notes', { title: 'On engines' });
  expect(made.status).toBe(201);
  const note = `/notes/${made.body.id}`;

  await change(NOTE, (text) => text.replace(STATUS, `${STATUS}    pages: integer(1,\n`));
  await developing.said(/domain\/note\.ts is refused: .*The former domain is still served/s);
  expect((await ask('GET', note)).body).toMatchObject({ title: 'On engines' });

  await change(NOTE, (text) =>
    text
      .replace('pages: integer(1,\n', 'pages: integer(1, 900).optional(),\n')
      .replace('{ line,', '{ integer, line,')
      .replace("['title', 'text']", "['title', 'text', 'pages']"),
  );
  await developing.said(/domain\/note\.ts is served, after [\d.]+ s/);
  await developing.said(/The read model was rebuilt, because its tables have changed/);
  const edited = await ask(
    'PATCH',
    note,
    { pages: 12 },
    { 'if-match': '*', prefer: 'return=representation' },
  );
  expect(edited.body).toMatchObject({ title: 'On engines', pages: 12 });

  await change(NOTE, (text) => text.replace('integer(1, 900)', 'integer(1, 9)'));
  await developing.said(/This breaks events in the log \(event note\.\w+/);

  // Accepted, but not with this data.
  await change('domain/base.ts', (text) => text.replace("name: 'fresh'", "name: 'other'"));
  await developing.said(
    /The data belongs to the domain fresh, .*could not start \(1\): the former domain is still served/s,
  );
  expect((await ask('GET', note)).body).toMatchObject({ title: 'On engines' });
  await change('domain/base.ts', (text) => text.replace("name: 'other'", "name: 'fresh'"));
  await developing.said(/domain\/base\.ts is served, after [\d.]+ s/);
});

test('serves what is saved while the first declaration is loaded', async ({ folder }) => {
  const note = await readFile(join(folder, NOTE), 'utf8');
  const [loading, mayGoOn] = [join(folder, 'loading'), join(folder, 'may-go-on')];
  await writeFile(
    join(folder, NOTE),
    `import { existsSync, writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(loading)}, '');
while (!existsSync(${JSON.stringify(mayGoOn)})) await new Promise((resolve) => setTimeout(resolve, 5));
${note}`,
  );
  await using annals = spawnAnnals(['main.ts', 'dev'], { LOG_LEVEL: 'warn' }, { folder });
  await until(
    () => existsSync(loading),
    (isLoading) => isLoading,
  );
  await writeFile(join(folder, NOTE), note.replace(STATUS, `${STATUS}    isNew: flag().initially(true),\n`));
  await writeFile(mayGoOn, '');
  // The word is not imported yet.
  await annals.said(/domain\/note\.ts is refused: .*flag is not defined/);
  annals.child.kill('SIGTERM');
  await annals.exited;
});

test('the door writes what an administrator describes, and nothing else', async ({
  project: { ask, developing, read, tokenFor },
}) => {
  const described = {
    aggregate: {
      ...{ name: 'invoice', owner: 'issuer', fields: [{ name: 'number', type: 'line' }] },
      states: [{ name: 'draft' }, { name: 'sent' }],
      rights: { read: { signedIn: ['own'] }, write: { signedIn: ['own'] } },
    },
  };
  const path = '/develop/declaration';
  for (const [change, says] of [
    [{ aggregate: { ...described.aggregate, name: '../escaped' } }, 'cannot be the name of an aggregate'],
    [{ aggregate: { ...described.aggregate, name: 'note' } }, 'already'],
    [{ aggregate: { ...described.aggregate, name: 'event' } }, ''],
    [{ kind: '../base', field: { name: 'extra', type: 'flag', initial: true } }, 'lists no aggregate'],
    [{ kind: 'note', field: { name: 'title', type: 'flag', initial: true } }, 'has a field title already'],
    [{ kind: 'note', field: { name: 'extra', type: 'line' } }, 'must be optional or have a default'],
    [{ path: '/etc/passwd' }, 'not valid'],
  ] as const) {
    const refused = await ask('POST', path, change);
    expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining(says)]);
  }
  const forged = await ask('POST', path, described, { origin: 'http://elsewhere.example' });
  expect(forged.status).toBe(403);
  const proxied = await ask('POST', path, described, { 'x-forwarded-for': '10.0.0.1' });
  expect(proxied.status).toBe(403);
  // Of the same administrator, for a program that only reads.
  const authorization = `Bearer ${await tokenFor('read:notes')}`;
  expect((await ask('POST', path, described, { authorization })).status).toBe(403);
  await expect(readFile(read('domain/invoice.ts'))).rejects.toThrow('ENOENT');

  const [first, second] = await Promise.all([ask('POST', path, described), ask('POST', path, described)]);
  expect([first.status, second.status].toSorted()).toEqual([200, 422]);
  await developing.said(/domain\/domain\.ts is served, after [\d.]+ s/);
  await until(
    () => ask('POST', '/invoices', { number: '1' }),
    ({ status }) => status === 201,
  );
  const words = ['new', 'field', 'invoice', 'dueOn:date:optional'];
  const added = await runAnnals(['main.ts', ...words], {}, { folder: read('.') });
  expect(added).toEqual({ exit: 0, output: 'domain/invoice.ts, changed\n' });
  await developing.said(/domain\/invoice\.ts is served, after [\d.]+ s/);
  const again = await runAnnals(['main.ts', ...words], {}, { folder: read('.') });
  expect(again.output).toContain('invoice has a field dueOn already');
  const tested = await runAnnals(['--test'], {}, { folder: read('.') });
  expect(tested.exit, tested.output).toBe(0);
});

test('nothing of it is in production, and npm start has no door', async ({ folder }) => {
  const refused = await runAnnals(['main.ts', 'dev'], { NODE_ENV: 'production' }, { folder });
  expect(refused.exit).toBe(1);
  const child = await runAnnals(['main.ts'], { NODE_ENV: 'production', ANNALS_DEVELOPED: '1' }, { folder });
  expect([child.exit, child.output]).toEqual([1, 'Only `dev` starts such a process: run npm run dev.\n']);
  await using annals = spawnAnnals(['main.ts'], {}, { folder });
  const [, url = ''] = await annals.said(/Annals is at (\S+)/);
  expect((await fetch(`${url}/develop/declaration`)).status).toBe(404);
  expect(await (await fetch(`${url}/console`)).text()).toContain('<div id="console">');
  annals.child.kill('SIGTERM');
  await annals.exited;
});
