// Over 200 lines, because every export and every damage comes from the one log that is set up here.
import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import type { EventId, Position, StreamName } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { START } from '#shared/event-log/event-log.ts';
import { exportLog } from '../proof/export/export-log.ts';
import { type AuditKey, rotateAuditKey } from '../proof/stored/signing-keys.ts';
import { type AuditedLog, test as base, createAuditedLog } from './engines/audited-log.ts';
import { openBackend } from './engines/backend.ts';
import { aKey, endorsed, signAnew, type TestKey } from './engines/forged-export.ts';

const SCRIPT = fileURLToPath(new URL('../docs/examples/verify-export.py', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('docs/examples/verify-export.py is not run, because there is no python3.');

/** Values that are hard to write in the canonical form for hashes. */
const ODD: readonly JsonObject[] = [
  {
    ratio: 0.1,
    tiny: 1e-7,
    huge: 1e21,
    large: 2 ** 53 + 2,
    negative: -0,
    list: [-2.5e-9, 100, 1e20, 123.456],
    nested: { b: 1, a: { 10: 1, 9: 2 } },
  },
  {
    é: '\u2028\u2029“”\u0007\b\n\u007f',
    '😀': null,
    '\ufb33': [true],
    '': false,
    half: 'a\ud800b',
    '\udc00': 1,
  },
];

const verify = async (
  ...args: readonly string[]
): Promise<{ readonly exit: number; readonly text: string }> => {
  try {
    const { stdout } = await promisify(execFile)('python3', [SCRIPT, ...args]);
    return { exit: 0, text: stdout };
  } catch (error) {
    const { code, stderr } = error as { readonly code: number; readonly stderr: string };
    return { exit: code, text: stderr };
  }
};

const range = { after: START, upTo: undefined, withKeys: true };
const quietly = { signal: new AbortController().signal, onProgress: () => {}, fileBytesMax: 6_000 };

const test = base
  .extend('fill', { scope: 'file' }, () => async (audited: AuditedLog) => {
    await audited.pool.query(`insert into public.person_key (subject, wrapped, destroyed_at)
       values (7, '\\x01', null), (8, null, now())`);
    await audited.append(20);
    for (const data of ODD)
      await audited.eventLog.append('thing-odd' as StreamName, 'any', [
        { id: randomUUID() as EventId, type: 'thing.noted', data, metadata: {} },
      ]);
    await audited.prove();
    await rotateAuditKey(audited);
    await audited.append(20);
    await audited.prove();
  })
  /** A path in a new folder, which goes with the log. */
  .extend('newPath', { scope: 'file' }, ({ audited }) => async (name: string) => {
    return join(await mkdtemp(join(dirname(audited.files.heads), 'new-')), name);
  })
  .extend('whole', { scope: 'file' }, async ({ audited, newPath }) => {
    const whole = await newPath('export');
    await exportLog({ ...audited, ...quietly }, whole, range);
    return whole;
  })
  .extend('copyOf', { scope: 'file' }, ({ newPath }) => async (folder: string) => {
    const path = await newPath('export');
    await cp(folder, path, { recursive: true });
    return path;
  });

describe.skipIf(!hasPython)('an auditor with only an export and Python', () => {
  test('verifies an unchanged export, and compares it with known heads and keys', async ({
    audited,
    whole,
  }) => {
    const verified = await verify(whole);
    expect(verified).toMatchObject({
      exit: 0,
      text: expect.stringMatching(/^VERIFIED\. 42 events, after position 0 up to 42\.\n.*2 signed heads/),
    });
    const { keys } = JSON.parse(await readFile(join(whole, 'manifest.json'), 'utf8')) as {
      keys: readonly { id: string }[];
    };
    for (const { id } of keys)
      expect(await verify(whole, `--key=${id}`, '--heads', audited.files.heads)).toMatchObject({ exit: 0 });
    expect(await verify(whole, '--key=of-another')).toMatchObject({
      exit: 1,
      text: expect.stringContaining('not signed by the key'),
    });
  });

  const change = (name: string, how: (text: string) => string) => async (path: string) => {
    const [before, file] = [await readFile(join(path, name), 'utf8'), join(path, name)];
    expect(how(before)).not.toBe(before);
    await writeFile(file, how(before));
  };
  const swapped = (text: string) => {
    const [one, two, ...rest] = text.split('\n');
    return [two, one, ...rest].join('\n');
  };
  const TAMPERINGS: readonly (readonly [string, (path: string) => Promise<unknown>])[] = [
    ['a changed line', change('events-000001.jsonl', (text) => text.replace('"n":3', '"n":4'))],
    ['a dropped line', change('events-000002.jsonl', (text) => text.slice(text.indexOf('\n') + 1))],
    ['swapped lines', change('events-000001.jsonl', swapped)],
    ['a line more', (path) => appendFile(join(path, 'events-000001.jsonl'), '{}\n')],
    ['a changed manifest', change('manifest.json', (text) => text.replace('"upTo":42', '"upTo":41'))],
    ['a changed head', change('manifest.json', (text) => text.replace('\\"count\\":22', '\\"count\\":21'))],
    ['a cut tail', (path) => rm(join(path, 'events-000004.jsonl'))],
    ['a torn file', change('events-000001.jsonl', (text) => text.slice(0, -10))],
    [
      'a file of another export',
      (path) => cp(join(path, 'events-000001.jsonl'), join(path, 'events-000099.jsonl')),
    ],
    ['another key of a person', change('persons.jsonl', (text) => text.replace('AQ==', 'AA=='))],
    ['no manifest', (path) => rm(join(path, 'manifest.json'))],
  ];

  test.for(TAMPERINGS)('finds %s', async ([_what, tamper], { copyOf, whole }) => {
    const path = await copyOf(whole);
    await tamper(path);
    expect(await verify(path)).toMatchObject({
      exit: 1,
      text: expect.stringMatching(/^NOT VERIFIED\. [A-Za-z0-9/]/),
    });
  });

  test('accepts a key as a descendant of the known one only if each was endorsed by the one before it', async ({
    copyOf,
    whole,
  }) => {
    const path = await copyOf(whole);
    const [first, second, third] = [aKey(), aKey(), aKey()];
    const verifyAs = async (keys: readonly AuditKey[], signer: TestKey) => {
      await signAnew(path, keys, signer);
      return verify(path, `--key=${second.id}`);
    };
    const known = [endorsed(first), endorsed(second, first)];
    expect(await verifyAs([...known, endorsed(third, second)], third)).toMatchObject({ exit: 0 });
    expect(await verifyAs(known, second)).toMatchObject({ exit: 0 });
    expect(await verifyAs([...known, endorsed(third, first)], third)).toMatchObject({
      exit: 1,
      text: expect.stringContaining(`The key ${third.id} does not follow from the one before it`),
    });
    expect(await verifyAs(known, first)).toMatchObject({
      exit: 1,
      text: expect.stringContaining(`not signed by the key ${second.id}`),
    });
  });

  test('does not count heads of another part of the log as agreeing', async ({
    audited,
    copyOf,
    newPath,
    whole,
  }) => {
    const [path, kept] = [await copyOf(whole), await newPath('kept.jsonl')];
    const lines = (await readFile(audited.files.heads, 'utf8')).trimEnd().split('\n');
    const keep = (...heads: readonly string[]) => writeFile(kept, heads.map((line) => `${line}\n`).join(''));
    const [early, late] = [join(path, 'early'), join(path, 'late')];
    await exportLog({ ...audited, ...quietly }, early, { ...range, upTo: 20 as Position });
    await exportLog({ ...audited, ...quietly }, late, { ...range, after: 22 as Position });
    await keep(...lines.slice(0, 1));
    expect(await verify(early, '--heads', kept)).toMatchObject({
      exit: 1,
      text: expect.stringContaining('None of the heads in'),
    });
    expect(await verify(late, '--heads', kept)).toMatchObject({ exit: 0 });
    await keep();
    expect(await verify(whole, '--heads', kept)).toMatchObject({
      exit: 1,
      text: expect.stringContaining('None of the heads in'),
    });
    const key = aKey();
    await signAnew(late, [endorsed(key)], key);
    const statement = JSON.stringify({ count: 22, head: '00'.repeat(32), key: key.id });
    await keep(JSON.stringify({ statement, signature: key.sign(statement) }));
    expect(await verify(late, '--heads', kept)).toMatchObject({
      exit: 1,
      text: expect.stringContaining('follow on 22 others'),
    });
  });

  test('verifies a download, and finds truncation, insertions, and changes', async ({ newPath }) => {
    await using system = await openBackend();
    const [author, admin] = [await system.person('author', 'Ada \u00e9'), await system.person('admin')];
    for (let articles = 0; articles < 5; articles += 1)
      await system.ask('/articles', {
        by: author,
        method: 'POST',
        body: { title: 'T', body: '\u2028', tags: [] },
      });
    const { body } = await system.ask('/audit/export', {
      by: admin,
      headers: { accept: 'application/x-ndjson' },
    });
    const file = await newPath('export.jsonl');
    const verifyText = async (text: string) => {
      await writeFile(file, text);
      return verify(file);
    };
    const lines = String(body).trimEnd().split('\n');
    const [first = '', last = ''] = [lines.at(0), lines.at(-1)];
    const joined = (...some: readonly string[]) => some.map((line) => `${line}\n`).join('');
    expect(await verifyText(String(body))).toMatchObject({
      exit: 0,
      text: expect.stringContaining(`${lines.length - 1} events`),
    });
    const wrong = [
      joined(...lines.slice(0, -1)),
      joined(...lines.slice(0, -2), last),
      joined(...lines.slice(0, -1), first, last),
      joined(...lines.slice(1)),
      String(body).replace('"title":"T"', '"title":"U"'),
      '',
    ];
    for (const text of wrong)
      expect(await verifyText(text)).toMatchObject({ exit: 1, text: expect.stringMatching(/^NOT VERIFIED/) });
  });

  test('finds a completely forged log, by heads that were published before', async ({ audited, newPath }) => {
    await using forged = await createAuditedLog();
    await forged.append(42);
    await forged.prove();
    const path = await newPath('export');
    await exportLog({ ...forged, ...quietly }, path, range);
    expect(await verify(path)).toMatchObject({ exit: 0 });
    expect(await verify(path, '--heads', audited.files.heads)).toMatchObject({
      exit: 1,
      text: expect.stringContaining('unknown key'),
    });
  });
});
