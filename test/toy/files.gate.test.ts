// Over 200 lines, because every case asks the one system that is set up here.
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { storedPathOf } from '#kernel/base/file-address.ts';
import type { Scan } from '#kernel/base/scan.ts';
import { domain } from '#kernel/declare/domain.ts';
import { file, line, list, ref } from '#kernel/declare/fields.ts';
import { fileDetails } from '../../client/file-details.ts';
import { until } from '../../testing/until.ts';
import { PREFLIGHT } from '../engines/graphql-uploads.ts';
import { operate } from '../engines/installation.ts';
import { test as base } from './toy-fixture.ts';

/**
 * Files of any type, and a scanner. `describeDomain` tries who may read them. The tests depend on each other.
 */
const office = domain({ name: 'papers', roles: ['clerk'] });
const { aggregate, user } = office;
const binder = aggregate('binder', {
  owner: 'clerk',
  fields: {
    clerk: ref(user),
    title: line(50),
    letter: file({ types: ['application/pdf', 'text/csv'], bytesMax: 20_000 }).optional(),
    papers: list(
      { text: line(50), proof: file({ types: ['application/pdf'], bytesMax: 9_000 }).optional() },
      { max: 5 },
    ),
  },
  events: {
    opened: { creates: ['title'] },
    changed: { changes: ['title', 'letter'] },
    paperAdded: { adds: 'papers' },
    paperChanged: { updates: 'papers' },
    ended: { ends: true },
  },
  commands: {
    open: { emits: 'opened' },
    change: { emits: 'changed' },
    addPaper: { emits: 'paperAdded' },
    changePaper: { emits: 'paperChanged' },
    end: { emits: 'ended' },
  },
  rights: { read: { clerk: 'own' }, write: { clerk: 'own' } },
  reactions: { clerk: { deleted: { run: 'end' } } },
});
const papers = assemble(office, [binder]);

const scanned: string[] = [];
const scan: Scan = async ({ field, name, content }) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('latin1');
  scanned.push(`${field} ${name} ${text.length}`);
  if (text.includes('BROKEN')) throw new Error('the scanner is broken');
  return text.includes('EICAR') ? 'The file has a virus.' : undefined;
};

const pdf = (text: string): Buffer => Buffer.from(`%PDF-1.7\n${text}`, 'latin1');
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const merge = 'application/merge-patch+json';

/** Of the last upload. */
let written: string | undefined;

type Shown = { readonly letter: string | null; readonly proof?: string | null };

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: papers, scan } })
  .extend('clara', { scope: 'file' }, ({ signUpAs }) => signUpAs('Clara', 'clerk'))
  .extend('binder', { scope: 'file' }, async ({ clara, session }) => {
    const { token } = clara;
    const { written } = await session.write('POST', '/binders', { token, body: { title: 'March' } });
    await session.write('POST', `/binders/${written.id}/papers`, { token, body: { text: 'One' } });
    return `/binders/${written.id}`;
  })
  .extend(
    'put',
    { scope: 'file' },
    ({ ask, clara, binder: of }) =>
      async (body: Buffer, headers = {}, at = '/letter') => {
        const type = 'application/pdf';
        const answer = await ask('PUT', `${of}${at}`, { token: clara.token, type, body, headers });
        written = answer.headers.get('consistency-token') ?? written;
        return { ...answer, code: (answer.body as { code?: string }).code };
      },
  )
  .extend('letterOf', { scope: 'file' }, ({ binder: of, clara, session }) => async (query = '') => {
    const headers = written === undefined ? {} : { 'consistency-token': written };
    const { body } = await session.read<Shown>(`${of}${query}`, { token: clara.token, headers });
    return body.letter;
  })
  .extend('stored', { scope: 'file' }, ({ installation }) => async () => {
    const names = await readdir(join(installation.settings.DATA_DIR ?? '', 'uploads'));
    return names.filter((name) => name !== 'incoming');
  });

const LETTER = pdf('A letter, so long that a range of it is something else than the whole.');
const NAMED = { 'content-disposition': `attachment; filename*=UTF-8''B%C3%BCcher%20%22M%C3%A4rz%22.pdf` };

test('the address of a file states its type, size, digest and safe name', async ({
  put,
  letterOf,
  binder: of,
}) => {
  expect((await put(LETTER, NAMED)).status).toBe(200);
  const address = String(await letterOf());
  expect(fileDetails(address)).toEqual({
    type: 'application/pdf',
    bytes: LETTER.length,
    sha256: sha256(LETTER),
    name: 'Bücher _März_.pdf',
  });
  expect(address).toMatch(new RegExp(`^/uploads/${of.split('/').at(-1)}-[\\w-]+\\.file\\?`));
  expect(scanned).toEqual([`binder.letter Bücher _März_.pdf ${LETTER.length}`]);
});

test('browsers download it under its name, and run nothing in it', async ({ ask, clara, letterOf }) => {
  const { token } = clara;
  const address = String(await letterOf());
  const { status, headers, body } = await ask('GET', address, { token });
  expect([status, body]).toEqual([200, LETTER.toString('latin1')]);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'application/pdf',
    'content-disposition': `attachment; filename="B_cher _M_rz_.pdf"; filename*=UTF-8''B%C3%BCcher%20_M%C3%A4rz_.pdf`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'repr-digest': `sha-256=:${createHash('sha256').update(LETTER).digest('base64')}:`,
    'cache-control': 'private, no-cache',
  });
  // The reader’s address decides nothing: a link with another name downloads the same file.
  const forged = await ask('GET', `${address.split('?')[0]}?name=setup.exe`, { token });
  expect(forged.headers.get('content-disposition')).toBe(headers.get('content-disposition'));
  const part = await ask('GET', address, { token, headers: { range: 'bytes=0-4' } });
  expect([part.status, part.body]).toEqual([206, '%PDF-']);
  const etag = headers.get('etag') ?? '';
  const rest = { range: `bytes=5-`, 'if-range': etag };
  expect((await ask('GET', address, { token, headers: rest })).body).toBe(LETTER.toString('latin1').slice(5));
  expect((await ask('GET', address, { token, headers: { 'if-none-match': etag } })).status).toBe(304);
  expect((await ask('GET', address)).status).toBe(404);
});

test('a signed address needs no token, and covers the type and the name', async ({
  ask,
  clara,
  letterOf,
}) => {
  const [path] = String(await letterOf()).split('?');
  const { body } = await ask('GET', `${path}/address`, { token: clara.token });
  const { href, ...details } = body as { href: string };
  expect(details).toMatchObject({ bytes: LETTER.length, sha256: sha256(LETTER), name: 'Bücher _März_.pdf' });
  const { status, headers } = await ask('GET', href);
  expect([status, headers.get('content-type')]).toEqual([200, 'application/pdf']);
  for (const [from, to] of [
    ['application%2Fpdf', 'text%2Fhtml'],
    ['.pdf', '.exe'],
    ['name=', 'nam='],
  ] as const)
    expect((await ask('GET', href.replace(from, to))).status).toBe(404);
});

test('what no declaration accepts is refused, and leaves nothing', async ({
  ask,
  clara,
  binder: of,
  put,
  stored,
}) => {
  const { token } = clara;
  const before = await stored();
  const as = async (type: string, body: Buffer) =>
    (await ask('PUT', `${of}/letter`, { token, type, body })).status;
  expect(await as('text/html', Buffer.from('<script>'))).toBe(415);
  expect(await as('application/pdf', Buffer.from('<script>'))).toBe(415);
  expect(await as('text/csv', LETTER)).toBe(415);
  expect(await as('application/pdf', pdf('x'.repeat(20_000)))).toBe(413);
  expect((await put(pdf('EICAR'))).body).toMatchObject({
    status: 422,
    detail: 'The file has a virus.',
    errors: [{ pointer: '/letter', detail: 'The file has a virus.' }],
  });
  expect(await put(pdf('BROKEN'))).toMatchObject({ status: 503, code: 'unavailable' });
  expect(await stored()).toEqual(before);
});

test('no form can state another file, nor other facts about it', async ({
  ask,
  clara,
  binder: of,
  letterOf,
}) => {
  const { token } = clara;
  const address = String(await letterOf());
  const changed = async (letter: unknown) =>
    (await ask('PATCH', of, { token, type: merge, body: { letter } })).status;
  expect(await changed(address.replace(sha256(LETTER), sha256(pdf('other'))))).toBe(422);
  expect(await changed('/uploads/1-0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.file')).toBe(422);
  expect(await changed({ _stored: 'letter' })).toBe(422);
  const body = { letter: address, _stored: 'letter' };
  expect((await ask('PATCH', of, { token, type: merge, body })).status).toBe(422);
  expect(await changed(address)).toBe(200);
});

test('GraphQL has its details and its address, and uploads one to an item', async ({
  clara,
  binder: of,
  graphql,
  installation,
  letterOf,
}) => {
  const { token } = clara;
  const id = of.split('/').at(-1);
  const { data } = await graphql(
    `{ binder(id: "${id}") { letter letterAddress { href } letterDetails { type bytes sha256 name } } }`,
    { token },
  );
  const address = await letterOf();
  expect(data).toEqual({
    binder: {
      letter: address,
      letterAddress: { href: expect.stringContaining('signature=') },
      letterDetails: fileDetails(String(address)),
    },
  });
  const query =
    'mutation ($id: ID!, $file: Upload!) { setBinderPaperProof(id: $id, paperId: 1, file: $file) { proofDetails { name sha256 } } }';
  const form = new FormData();
  form.append('operations', JSON.stringify({ query, variables: { id, file: null } }));
  form.append('map', '{"0":["variables.file"]}');
  form.append('0', new File([LETTER as never], 'proof.pdf'));
  const headers = { ...PREFLIGHT, authorization: `Bearer ${token}` };
  const answer = await installation.fetch(`${installation.url}/graphql`, {
    method: 'POST',
    headers,
    body: form,
  });
  expect(await answer.json()).toMatchObject({
    data: { setBinderPaperProof: { proofDetails: { name: 'proof.pdf', sha256: sha256(LETTER) } } },
  });
});

test('history and earlier states keep the facts of a file that is gone', async ({
  ask,
  clara,
  binder: of,
  letterOf,
  put,
  session,
  stored,
}) => {
  const { token } = clara;
  const first = String(await letterOf());
  const { headers } = await put(pdf('Another letter.'));
  const [, version = ''] = /^"(\d+)/.exec(headers.get('etag') ?? '') ?? [];
  const gone = first.split('?')[0]?.replace('/uploads/', '') ?? '';
  await until(stored, (names) => !names.includes(gone));
  expect(await letterOf(`?at=v${Number(version) - 1}`)).toBe(first);
  expect((await ask('GET', first, { token })).status).toBe(404);
  const { body } = await session.read<readonly { changes: readonly { field: string; from: unknown }[] }[]>(
    `${of}/history?limit=100`,
    { token },
  );
  expect(body.flatMap(({ changes }) => changes)).toContainEqual(
    expect.objectContaining({ field: 'letter', from: first }),
  );
});

test('the same key stores a file once, and another file under it is refused', async ({ put, stored }) => {
  const key = { 'idempotency-key': 'one-letter' };
  const before = (await stored()).length;
  const { body } = await put(LETTER, key);
  expect((await put(LETTER, key)).body).toEqual(body);
  expect(await put(pdf('Yet another.'), key)).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
  await until(stored, (names) => names.length === before);
});

test('a name of any length is shortened, also with a key', async ({ put, letterOf }) => {
  const named = (name: string) => ({
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}.pdf`,
  });
  const key = { 'idempotency-key': 'long-name' };
  const long = { ...named('ü'.repeat(1_000)), ...key };
  expect((await put(LETTER, long)).status).toBe(200);
  expect(fileDetails(String(await letterOf()))?.name).toBe(`${'ü'.repeat(146)}.pdf`);
  expect((await put(LETTER, long)).status).toBe(200);
  expect(await put(LETTER, { ...named('v'), ...key })).toMatchObject({ code: 'idempotency_key_reused' });
});

test('audit verify --files compares each file with the digest in its event', async ({
  binder: of,
  installation,
  letterOf,
}) => {
  const verified = () => operate(['audit', 'verify', '--files'], installation.settings, papers);
  expect(await verified()).toContain('Files: compared the content of 2 with the digests in their events.');
  const path = storedPathOf(String(await letterOf()));
  const stored = join(installation.settings.DATA_DIR ?? '', path);
  const content = await readFile(stored);
  await writeFile(stored, pdf('A forged letter.'));
  const id = of.split('/').at(-1);
  const place = `"table":"binders","key":"${id}","column":"letter","path":"${path}"`;
  await expect(verified()).rejects.toThrow(`file different: {${place},"recorded":"${sha256(content)}"`);
  await rm(stored);
  await expect(verified()).rejects.toThrow(`file missing: {${place}}`);
  await writeFile(stored, content);
});

test('the files of a person go with what they own', async ({ clara, people, session, stored }) => {
  await session.write('DELETE', `/users/${clara.userId}`, { token: people.administrator.token });
  await until(stored, (names) => names.length === 0);
});
