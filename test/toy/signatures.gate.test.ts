// Over 200 lines, because it is one flow: from the refusal of a command to a file that is verified without Annals.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { createClient } from '../../client/client.ts';
import { Problem } from '../../client/problem.ts';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import { PASSWORD } from '../../testing/http/people.ts';
import { operate } from '../../testing/installation.ts';
import { until } from '../../testing/until.ts';
import { setUpCodes } from '../engines/second-factor.ts';
import { accountOf, openSigner } from '../engines/signers.ts';
import { batches } from './batches.ts';
import { test as base } from './toy-fixture.ts';

/** Signatures of persons, from the refusal of a command to a file that is verified without Annals. */
const SITE = 'https://annals.example';
const VERIFIER = join(import.meta.dirname, '../../docs/examples/verify-signature.js');

const test = base
  .extend(
    'installationOptions',
    { scope: 'file' },
    { of: { domain: batches }, settings: { PUBLIC_URL: SITE } },
  )
  .extend('mia', { scope: 'file' }, ({ signUpAs }) => signUpAs('Mia', 'maker'))
  .extend('rita', { scope: 'file' }, ({ signUpAs }) => signUpAs('Rita', 'releaser'))
  .extend('ritas', { scope: 'file' }, ({ installation, rita }) => openSigner(installation, rita))
  .extend('lab', { scope: 'file' }, ({ installation, mia, rita }) => {
    const clientOf = (token: string) =>
      createClient<typeof batches>({ url: installation.url, fetch: installation.fetch, token });
    const [making, releasing] = [clientOf(mia.token), clientOf(rita.token)];
    return {
      making,
      releasing,
      make: async () => (await making.batches.create({ product: 'Aspirin', note: 'Mine' })).id,
      /** The refusal of a command without a signature. */
      asked: async (send: () => Promise<unknown>) => {
        const problem = await send().then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(problem).toBeInstanceOf(Problem);
        expect(problem).toMatchObject({ status: 403, code: 'signature_required' });
        return (problem as Problem).details as { readonly request: string; readonly href: string };
      },
    };
  });

test('a person signs with a passkey, and history and events show name, meaning and time', async ({
  lab,
  rita,
  ritas,
}) => {
  const id = await lab.make();
  const release = (signature?: string) =>
    lab.releasing.batches.release(id, { verdict: 'pass' }, signature === undefined ? {} : { signature });
  const { request, href } = await lab.asked(() => release());
  expect(href).toBe(`${SITE}/account/sign?link=${request}`);
  const page = await ritas.open(href);
  for (const text of ['Release the batch', `Batch ${id}: Aspirin`, 'version 1', 'pass', 'approval'])
    expect(page.body).toContain(text);
  expect((await ritas.answer(page)).body).toContain('<h1>Signed</h1>');
  await release(request);
  const shown = {
    ...{ by: `user:${rita.userId}`, meaning: 'approval', means: 'passkey' },
    at: expect.stringMatching(/^20.*Z$/),
  };
  const [entry, made] = await Array.fromAsync(lab.releasing.batches.history(id));
  expect([entry?.signature, made?.signature]).toEqual([shown, undefined]);
  const [event] = await Array.fromAsync(lab.releasing.events.list({ types: ['batch.released'] }));
  expect(event).toMatchObject({ signature: shown });
  expect((await ritas.open(href)).body).toContain('There is nothing to sign');
});

test('a signature of another person, session, page or key signs nothing', async ({
  installation,
  lab,
  mia,
  ritas,
}) => {
  const [id, other] = [await lab.make(), await lab.make()];
  const [{ href }, second] = [
    await lab.asked(() => lab.releasing.batches.release(id, { verdict: 'pass' })),
    await lab.asked(() => lab.releasing.batches.release(other, { verdict: 'pass' })),
  ];
  const mias = await openSigner(installation, mia);
  expect((await mias.open(href)).body).toContain('This is for somebody else to sign');
  const page = await ritas.open(href);
  // Of another account, of another page, and twisted.
  expect((await mias.answer(page)).status).toBe(403);
  const challenge = /challenge&quot;:&quot;([\w-]+)/.exec((await ritas.open(second.href)).body)?.[1] ?? '';
  for (const twist of [
    { challenge },
    { origin: 'https://evil.example' },
    { flags: 1 },
    { type: 'webauthn.create' },
  ])
    expect([twist, (await ritas.answer(await ritas.open(href), twist)).status]).toEqual([twist, 422]);
  expect(
    (await ritas.account.browser.post(`${SITE}/account/sign`, { do: 'passkey' })).status,
  ).toBeGreaterThan(399);
  for (const link of ['', 'x', 'A'.repeat(43)])
    expect((await ritas.open(`${SITE}/account/sign?link=${link}`)).body).toContain(
      'There is nothing to sign',
    );
  expect((await ritas.sign(href)).status).toBe(200);
});

test('a person without a passkey signs with password and code, and never with a session alone', async ({
  installation,
  lab,
  people,
  become,
}) => {
  const paula = await become(await people.signUp('Paula'), 'releaser');
  const account = await accountOf(installation, paula);
  const client = createClient<typeof batches>({
    url: installation.url,
    fetch: installation.fetch,
    token: paula.token,
  });
  const id = await lab.make();
  const { request, href } = await lab.asked(() => client.batches.release(id, { verdict: 'pass' }));
  const open = async () => account.browser.follow(await account.browser.get(href));
  expect((await open()).body).toContain('You have nothing to sign with yet.');
  const app = await setUpCodes(account);
  const send = async (fields: Readonly<Record<string, string>>) =>
    account.send(await open(), { do: 'password', ...fields });
  const wrong = [
    { password: 'wrong wrong wrong', code: '123456' },
    { password: PASSWORD, code: '' },
    { password: PASSWORD, code: 'abcdef' },
    { password: '', code: '123456' },
  ];
  for (const fields of wrong) expect([fields, (await send(fields)).status]).toEqual([fields, 422]);
  expect((await send({ password: PASSWORD, code: app.next() })).body).toContain('<h1>Signed</h1>');
  await client.batches.release(id, { verdict: 'pass' }, { signature: request });
  const [entry] = await Array.fromAsync(client.batches.history(id));
  expect(entry?.signature).toMatchObject({ by: `user:${paula.userId}`, means: 'password' });
});

test('GraphQL takes it as an argument, and REST only where somebody signs', async ({
  ask,
  installation,
  lab,
  rita,
  ritas,
}) => {
  const id = await lab.make();
  const send = (signature = '') =>
    graphqlClientOf(installation)(
      `mutation { releaseBatch(id: "${id}", verdict: "pass"${signature && `, signature: "${signature}"`}) {
        history { nodes { type signature { by meaning at means } } } } }`,
      { token: rita.token },
    );
  const { errors } = await send();
  expect(errors).toMatchObject([{ extensions: { code: 'signature_required' } }]);
  const { details } = (errors?.[0]?.extensions ?? {}) as { details?: { request: string; href: string } };
  const { request = '', href = '' } = details ?? {};
  await ritas.sign(href);
  expect((await send(request)).data).toMatchObject({
    releaseBatch: {
      history: {
        nodes: [
          {
            type: 'batch.released',
            signature: { by: `user:${rita.userId}`, meaning: 'approval', means: 'passkey' },
          },
          { type: 'batch.made', signature: null },
        ],
      },
    },
  });
  const headers = { 'electronic-signature': request };
  const made = await ask('POST', '/batches', {
    token: rita.token,
    headers,
    body: { product: 'x', note: null },
  });
  expect([made.status, made.body]).toMatchObject([400, { code: 'malformed_request' }]);
  const wrong = await ask('POST', `/batches/${id}/recall`, {
    ...{ token: rita.token, headers: { reason: 'x', 'electronic-signature': 'x' } },
  });
  expect([wrong.status, wrong.body]).toMatchObject([422, { code: 'invalid_request' }]);
});

test('webhooks and subscriptions show the signature', async ({
  installation,
  lab,
  rita,
  ritas,
  session,
  sink,
}) => {
  const id = await lab.make();
  const hook = { url: `${sink.url}/signed`, eventTypes: ['batch.released'], payload: 'full' };
  await session.write('POST', '/webhooks', { token: rita.token, body: hook });
  const asked = `subscription { batchChanged(id: "${id}") { type signature { by meaning at means } } }`;
  await using changes = await streamOf(installation, asked, { token: rita.token });
  const { request, href } = await lab.asked(() => lab.releasing.batches.release(id, { verdict: 'pass' }));
  await ritas.sign(href);
  await lab.releasing.batches.release(id, { verdict: 'pass' }, { signature: request });
  const [entry] = await Array.fromAsync(lab.releasing.batches.history(id));
  const signature = entry?.signature;
  expect(signature?.by).toBe(`user:${rita.userId}`);
  // The creation may reach a subscription that began after it.
  const shown = await until(
    async () =>
      (await changes.results<{ readonly batchChanged: { readonly type: string } }>(1)).flatMap(({ data }) =>
        data?.batchChanged.type === 'batch.released' ? data.batchChanged : [],
      ),
    ({ length }) => length > 0,
  );
  expect(shown).toMatchObject([{ type: 'batch.released', signature }]);
  const [delivered] = await until(
    () => sink.received.filter(({ path }) => path === '/signed'),
    ({ length }) => length > 0,
  );
  expect(JSON.parse(String(delivered?.body))).toMatchObject({ type: 'batch.released', signature });
});

test('tools for agents have no signed command, and the description names the header', async ({
  ask,
  rita,
}) => {
  const { body } = await ask('POST', '/mcp', {
    token: rita.token,
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  });
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  expect(text).toContain('"createBatch"');
  expect(text).not.toContain('"releaseBatch"');
  // Its request waits for a person, who signs the approval.
  expect(text).toContain('"recallBatch"');
  expect(text).not.toMatch(/electronic-signature|needs your signature/i);
  const { body: described } = await ask('GET', '/openapi.json');
  expect(JSON.stringify(described)).toContain('Electronic-Signature');
});

type Verified = { readonly exit: number; readonly text: string };

test('the script verifies them without Annals, and finds each change', async ({
  installation,
  lab,
  ritas,
}) => {
  const id = await lab.make();
  const { request, href } = await lab.asked(() => lab.releasing.batches.release(id, { verdict: 'pass' }));
  await ritas.sign(href);
  await lab.releasing.batches.release(id, { verdict: 'pass' }, { signature: request });
  const printed = await operate(['log', 'show', `batch-${id}`, '--json'], installation.settings, batches);
  const lines = printed.split('\n').filter((line) => line.startsWith('{'));
  await using folder = new AsyncDisposableStack();
  const path = folder.adopt(await mkdtemp(join(tmpdir(), 'annals-signatures-')), (made) =>
    rm(made, { recursive: true, force: true }),
  );
  const verify = async (change: (line: string) => string = (line) => line): Promise<Verified> => {
    const file = join(path, 'events.jsonl');
    await writeFile(file, `${lines.map(change).join('\n')}\n`);
    return promisify(execFile)(process.execPath, [VERIFIER, file, SITE]).then(
      ({ stdout }) => ({ exit: 0, text: stdout }),
      ({ code, stdout, stderr }) => ({ exit: code as number, text: `${stdout}${stderr}` }),
    );
  };
  const good = await verify();
  expect([good.exit, good.text]).toEqual([0, expect.stringContaining('signed by user')]);
  expect(good.text).toContain('2 events, 1 of them signed, 0 faults.');
  const changes: readonly (readonly [string, string, string])[] = [
    ['"pass"', '"fail"', 'verdict is not what was signed'],
    [`"batch-${id}"`, '"batch-1"', 'which the file does not have'],
    ['approval', 'disapproval', 'the passkey has signed another statement'],
    ['"version":2', '"version":3', 'this is another change'],
  ];
  for (const [from, to, fault] of changes) {
    const found = await verify((line) => (line.includes('batch.released') ? line.replace(from, to) : line));
    expect([from, found.exit, found.text]).toEqual([from, 1, expect.stringContaining(fault)]);
  }
});
