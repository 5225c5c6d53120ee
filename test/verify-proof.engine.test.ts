import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { readChainEnd } from '../proof/stored/blocks.ts';
import { scaled } from '../testing/load.ts';
import { until } from '../testing/until.ts';
import { test as base } from './engines/backend.ts';

/** Verifiers that share no code with Annals: a script without dependencies, and a library of others. */
const SCRIPT = join(import.meta.dirname, '../docs/examples/verify-proof.py');
const PROGRAM = join(import.meta.dirname, 'engines/transparency');
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('docs/examples/verify-proof.py is not run, because there is no python3.');
const hasGo = spawnSync('go', ['version']).status === 0;
if (!hasGo)
  console.warn('The tree is not checked by torchwood, because there is no Go (apt-get install golang).');

type Run = { readonly exit: number; readonly text: string };

const run = async (command: string, ...args: readonly string[]): Promise<Run> => {
  try {
    const { stdout } = await promisify(execFile)(command, [...args]);
    return { exit: 0, text: stdout };
  } catch (error) {
    const { code, stderr } = error as { readonly code: number; readonly stderr: string };
    return { exit: code, text: stderr };
  }
};

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('folder', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'annals-proof-'));
    onCleanup(() => rm(folder, { recursive: true, force: true }));
    return folder;
  })
  // More than a tile of events.
  .extend('proven', { scope: 'file' }, async ({ admin, author, backend, write }, { onCleanup }) => {
    const article = await write(author, 'POST', '/articles', { title: 'Über “Beweise”', body: '', tags: [] });
    for (let at = 0; at < 300; at += 1)
      await write(author, 'PATCH', `/articles/${article}`, { title: `Über Beweise, ${at}` });
    const chain = await backend.startChain();
    onCleanup(() => chain[Symbol.asyncDispose]());
    const head = await backend.side.eventLog.head();
    const { count } = await until(
      () => readChainEnd(backend.side.pool),
      ({ position }) => position >= head,
    );
    const { body: events } = await backend.ask(`/events?subject=article-${article}&limit=1`, { by: admin });
    const [{ id }] = events as readonly [{ readonly id: string }];
    const { body } = await backend.ask(`/events/${id}/proof`, { by: admin });
    const { proof, vkey } = body as { readonly proof: string; readonly vkey: string };
    return { id, proof, vkey, count };
  })
  .extend('save', { scope: 'file' }, ({ folder }) => async (name: string, text: string) => {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  })
  .extend('program', { scope: 'file' }, async ({ folder }) => {
    const path = join(folder, 'check-log');
    await promisify(execFile)('go', ['build', '-o', path, '.'], { cwd: PROGRAM });
    return path;
  });

test.skipIf(!hasPython)(
  'the script proves an event',
  async ({ proven: { id, proof, vkey, count }, save }) => {
    const { exit, text } = await run('python3', SCRIPT, await save('event.tlog-proof', proof), vkey);
    expect(exit, text).toBe(0);
    expect(text).toContain(`of ${count} in the log.`);
    expect(text).toContain(id);
    expect(text).toContain('\\u00dcber \\u201cBeweise\\u201d');
  },
);

const OTHER_KEY =
  'annals/6f9619ff-8b86-4011-b42d-00c04fc964ff+b99cd67e+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea';

test.for([
  ['is cut', (proof: string) => proof.slice(0, -40), undefined, 'a part of it is missing'],
  [
    'has a negative place',
    (proof: string) => proof.replace(/^index \d+$/m, 'index -5'),
    undefined,
    'no proof of an event',
  ],
  [
    'is nested too deeply',
    (proof: string) =>
      proof.replace(/^extra .*$/m, `extra ${Buffer.from('['.repeat(100_000)).toString('base64')}`),
    undefined,
    'no proof of an event',
  ],
  [
    'has a number for its event',
    (proof: string) =>
      proof.replace(/^extra .*$/m, `extra ${Buffer.from('{"event":1,"salt":""}').toString('base64')}`),
    undefined,
    'no proof of an event',
  ],
  ['is empty', () => '', undefined, 'The file is no proof of an event'],
  ['has another place', (proof: string) => proof.replace(/^index \d+$/m, 'index 7'), undefined, 'in place 8'],
  [
    'has another size',
    (proof: string) => proof.replace(/^(annals\/.*\n)\d+$/m, '$1999'),
    undefined,
    'was changed after it was signed',
  ],
  ['is of another log', (proof: string) => proof, OTHER_KEY, `and the key is of ${OTHER_KEY.split('+')[0]}`],
  ['comes with a broken key', (proof: string) => proof, `${OTHER_KEY.slice(0, -1)}b`, 'no key of a log'],
] as const)(
  'the script refuses a proof that %s, in one sentence',
  { skip: !hasPython },
  async ([name, change, key, reason], { proven: { proof, vkey }, save }) => {
    const path = await save(`${name.replaceAll(' ', '-')}.tlog-proof`, change(proof));
    const { exit, text } = await run('python3', SCRIPT, path, key ?? vkey);
    expect(exit).toBe(1);
    expect(text).toMatch(/^Not proven\. [^\n]*\.\n$/);
    expect(text).toContain(reason);
  },
);

test.skipIf(!hasGo)(
  'torchwood verifies the checkpoint, every entry, and a proof',
  { timeout: scaled(300_000) },
  async ({ backend, program, proven: { proof, vkey, count }, save }) => {
    const path = await save('go.tlog-proof', proof);
    expect(await run(program, `${backend.url}/audit/log/`, vkey, path)).toEqual({
      exit: 0,
      text: `${count}\n`,
    });
    const other = await run(program, `${backend.url}/audit/log/`, OTHER_KEY, path);
    expect(other.exit).toBe(1);
    const changed = await save('changed.tlog-proof', proof.replace(/^index \d+$/m, 'index 7'));
    expect((await run(program, `${backend.url}/audit/log/`, vkey, changed)).exit).toBe(1);
  },
);
