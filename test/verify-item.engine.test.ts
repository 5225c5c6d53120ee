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

/** Verifiers that share no code with Annals: a script without dependencies, and the crates of others. */
const SCRIPT = join(import.meta.dirname, '../docs/examples/verify-item.py');
const CRATE = join(import.meta.dirname, 'engines/transparency/rust');
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('docs/examples/verify-item.py is not run, because there is no python3.');
const hasRust = spawnSync('cargo', ['--version']).status === 0;
if (!hasRust)
  console.warn('The tree is not checked by tlog_tiles, because there is no Rust (apt-get install cargo).');

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
  .extend('save', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'annals-item-'));
    onCleanup(() => rm(folder, { recursive: true, force: true }));
    return async (name: string, text: string): Promise<string> => {
      const path = join(folder, name.replaceAll(' ', '-'));
      await writeFile(path, text);
      return path;
    };
  })
  // More than a tile of events, half of them of another article.
  .extend('proven', { scope: 'file' }, async ({ admin, author, backend, write }, { onCleanup }) => {
    const draft = { title: 'Über “Beweise”', body: '', tags: [] };
    const [article, other] = [
      await write(author, 'POST', '/articles', draft),
      await write(author, 'POST', '/articles', draft),
    ];
    const chain = await backend.startChain();
    onCleanup(() => chain[Symbol.asyncDispose]());
    const reachChain = async (): Promise<number> => {
      const head = await backend.side.eventLog.head();
      const { count } = await until(
        () => readChainEnd(backend.side.pool),
        ({ position }) => position >= head,
      );
      return count;
    };
    const textOf = async (path: string): Promise<string> => {
      const response = await fetch(`${backend.url}${path}`, { headers: await backend.authorization(admin) });
      return response.text();
    };
    await reachChain();
    const kept = await textOf('/audit/log/checkpoint');
    for (let at = 0; at < 200; at += 1)
      await write(author, 'PATCH', `/articles/${at % 2 === 0 ? article : other}`, { title: `Über ${at}` });
    const count = await reachChain();
    const { body: events } = await backend.ask(`/events?subject=article-${article}&limit=1`, { by: admin });
    const [{ id }] = events as readonly [{ readonly id: string }];
    const { body } = await backend.ask(`/events/${id}/proof`, { by: admin });
    return {
      ...(body as { readonly proof: string; readonly vkey: string }),
      ...{ article, count, kept, item: await textOf(`/articles/${article}/proof`) },
      consistency: await textOf(`/audit/log/consistency?from=${kept.split('\n')[1]}`),
    };
  });

test.skipIf(!hasPython)('the script proves an item', async ({ proven, save }) => {
  const { article, count, item, vkey } = proven;
  const { exit, text } = await run('python3', SCRIPT, await save('item.jsonl', item), vkey);
  expect(exit, text).toBe(0);
  expect(text).toContain(`Proven: 'article-${article}': versions 1 to 101, in the log as of entry ${count}.`);
  expect(text.trim().split('\n')).toHaveLength(102);
});

const OTHER_KEY =
  'annals/6f9619ff-8b86-4011-b42d-00c04fc964ff+b99cd67e+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea';
const linesOf = (text: string): readonly string[] => text.split(/(?<=\n)/);
const swapped = (lines: readonly string[], one: number, other: number): readonly string[] =>
  lines.with(one, lines[other] as string).with(other, lines[one] as string);

test.for([
  ['is empty', () => [], 'a part of it is missing'],
  ['is cut', (lines: readonly string[]) => lines.slice(0, -1), 'a part of it is missing'],
  [
    'is cut within a line',
    (lines: readonly string[]) => [lines.join('').slice(0, -5)],
    'a part of it is missing',
  ],
  ['lacks a version', (lines: readonly string[]) => lines.toSpliced(5, 1), 'version 6 comes in place 5'],
  [
    'has two versions exchanged',
    (lines: readonly string[]) => swapped(lines, 5, 6),
    'version 6 comes in place 5',
  ],
  [
    'has a changed event',
    (lines: readonly string[]) => lines.with(5, (lines[5] as string).replace('Über 6', 'Über 7')),
    'or the proof, was changed',
  ],
  [
    'has an event in another place',
    (lines: readonly string[]) => lines.with(5, (lines[5] as string).replace(/"index":\d+/, '"index":1')),
    'or the proof, was changed',
  ],
  [
    'lacks its last event',
    (lines: readonly string[]) => lines.toSpliced(101, 1),
    'or the proof, was changed',
  ],
  [
    'has another size',
    (lines: readonly string[]) => lines.with(-1, (lines.at(-1) as string).replace(/\\n\d+\\n/, '\\n999\\n')),
    'was changed after it was signed',
  ],
] as const)(
  'the script refuses a proof of an item that %s, in one sentence',
  { skip: !hasPython },
  async ([name, change, reason], { proven: { item, vkey }, save }) => {
    const { exit, text } = await run(
      'python3',
      SCRIPT,
      await save(name, change(linesOf(item)).join('')),
      vkey,
    );
    expect(exit).toBe(1);
    expect(text).toMatch(/^Not proven\. [^\n]*\.\n$/);
    expect(text).toContain(reason);
  },
);

test.skipIf(!hasPython)('the script refuses a proof of another log', async ({ proven, save }) => {
  const { exit, text } = await run('python3', SCRIPT, await save('other.jsonl', proven.item), OTHER_KEY);
  expect([exit, text]).toEqual([1, expect.stringContaining(`and the key is of ${OTHER_KEY.split('+')[0]}`)]);
});

test.skipIf(!hasRust)(
  'tlog_tiles verifies the checkpoint, every entry, a proof, and that the log only grew',
  { timeout: scaled(600_000) },
  async ({ backend, proven, save }) => {
    const { consistency, count, kept, proof, vkey } = proven;
    const target = join(import.meta.dirname, '../node_modules/.cache/check-log');
    await promisify(execFile)('cargo', ['build', '--release', '--locked', '--target-dir', target], {
      cwd: CRATE,
    });
    const program = join(target, 'release/check-log');
    const { host } = new URL(backend.url);
    const files = [await save('proof', proof), await save('kept', kept), await save('grown', consistency)];
    const [file = '', old = '', grown = ''] = files;
    expect(await run(program, host, vkey, file, old, grown)).toEqual({ exit: 0, text: `${count}\n` });
    expect((await run(program, host, OTHER_KEY, file, old, grown)).exit).toBe(1);
    const moved = await save('moved', proof.replace(/^index \d+$/m, 'index 7'));
    expect((await run(program, host, vkey, moved, old, grown)).exit).toBe(1);
    const hashes = consistency.split('\n');
    const forked = await save('forked', swapped(hashes, 1, 2).join('\n'));
    expect((await run(program, host, vkey, file, old, forked)).exit).toBe(1);
  },
);
