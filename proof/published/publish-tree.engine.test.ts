// Over 200 lines, because it is one suite, for a folder and for a bucket.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPublishedFiles } from '#process/engines/open-published-files.ts';
import type { PublishedFiles } from '#shared/blobs/published-files.ts';
import { type AuditedLog, createAuditedLog } from '../../test/engines/audited-log.ts';
import { temporaryDataDir } from '../../test/engines/data-dir.ts';
import { s3Missing, startS3 } from '../../test/engines/s3.ts';
import { leavesIn, rootOf } from '../../test/engines/tree-of-log.ts';
import { captureLog } from '../../test/serve.ts';
import { until } from '../../testing/until.ts';
import { leafHash, split } from '../tree/hashes.ts';
import { ownHeadIn } from '../tree/note-key.ts';
import { readTreeHead } from '../tree/tiles.ts';
import { publishTreeTo } from './publish-tree.ts';
import { startPublishing } from './service.ts';

type Place = AsyncDisposable & { readonly url: string };

const inAFolder = async (): Promise<Place> => {
  const data = await temporaryDataDir();
  return {
    url: pathToFileURL(join(data.path, 'public', 'tree')).href,
    [Symbol.asyncDispose]: () => data[Symbol.asyncDispose](),
  };
};

const inABucket = async (): Promise<Place> => {
  const s3 = await startS3();
  return { url: s3.url({ prefix: 'tree' }), [Symbol.asyncDispose]: () => s3[Symbol.asyncDispose]() };
};

const open = (url: string) => openPublishedFiles(url, 'AUDIT_TREE_URL');

const publisherOf = ({ pool, masterKey, eventLog }: AuditedLog, files: PublishedFiles) => {
  const publish = publishTreeTo({ files, pool, masterKey, log: eventLog.identity });
  return async () => publish([(await readTreeHead(pool))?.note as string]);
};

const ENTRY_BYTES = 34;

/** The head of the files, which must follow from their entries. */
const readTree = async ({ pool, masterKey }: AuditedLog, files: PublishedFiles) => {
  const note = (await files.read('checkpoint'))?.toString() ?? null;
  const signed = await ownHeadIn({ connection: pool, masterKey }, note);
  if (signed === undefined) return undefined;
  const { size, root } = signed.head;
  const leaves: Buffer[] = [];
  for (let index = 0; leaves.length < size; index += 1) {
    const width = Math.min(size - index * 256, 256);
    const name = `${String(index).padStart(3, '0')}${width < 256 ? `.p/${width}` : ''}`;
    const entries = (await files.read(`tile/entries/${name}`)) as Buffer;
    expect(entries).toHaveLength(width * ENTRY_BYTES);
    for (let at = 0; at < width; at += 1)
      leaves.push(leafHash(entries.subarray(at * ENTRY_BYTES + 2, (at + 1) * ENTRY_BYTES)));
    expect(split((await files.read(`tile/0/${name}`)) as Buffer)).toEqual(leaves.slice(index * 256));
  }
  expect(rootOf(leaves)).toEqual(root);
  return { size, leaves };
};

const PLACES: readonly (readonly [string, () => Promise<Place>])[] =
  s3Missing === undefined
    ? [
        ['a folder', inAFolder],
        ['a bucket', inABucket],
      ]
    : [['a folder', inAFolder]];
if (s3Missing !== undefined) test.skip(`the tree in a bucket: ${s3Missing}`, () => {});

describe.each(PLACES)('the tree published in %s', (_name, start) => {
  let place: Place;
  let audited: AuditedLog;
  let files: PublishedFiles;
  beforeAll(async () => {
    place = await start();
    audited = await createAuditedLog();
    files = await open(place.url);
  });
  afterAll(async () => {
    await files?.[Symbol.asyncDispose]();
    await audited?.[Symbol.asyncDispose]();
    await place?.[Symbol.asyncDispose]();
  });

  test('is all that a reader needs, and grows', async () => {
    const publish = publisherOf(audited, files);
    for (const count of [3, 300, 253, 1]) {
      await audited.append(count);
      await audited.prove();
      await publish();
      expect((await readTree(audited, files))?.leaves).toEqual(await leavesIn(audited));
    }
  });

  test('keeps no tile that another has filled', async () => {
    expect(await files.read('tile/0/000.p/3')).toBeUndefined();
    expect(await files.read('tile/entries/000.p/3')).toBeUndefined();
    expect(await files.read('tile/1/000.p/1')).toBeDefined();
  });

  test('keeps no tile that a process before has left', async () => {
    for (const count of [3, 5]) {
      await audited.append(count);
      await audited.prove();
      await publisherOf(audited, files)();
    }
    const left = ['002.p/48', '002.p/53'].flatMap((name) => [`tile/0/${name}`, `tile/entries/${name}`]);
    for (const path of left) expect(await files.read(path)).toBeDefined();
    await audited.append(250);
    await audited.prove();
    await publisherOf(audited, files)();
    for (const path of left) expect(await files.read(path)).toBeUndefined();
    expect((await readTree(audited, files))?.size).toBe(815);
  });

  test('is continued by another process, and not replaced by one that is behind', async () => {
    const former = (await readTreeHead(audited.pool))?.note as string;
    await audited.append(260);
    await audited.prove();
    await publisherOf(audited, files)();
    const { pool, masterKey, eventLog } = audited;
    await publishTreeTo({ files, pool, masterKey, log: eventLog.identity })([former]);
    expect((await readTree(audited, files))?.size).toBe(1_075);
  });

  test('is not replaced by one with other events', async () => {
    const before = await files.read('checkpoint');
    await audited.append(1);
    await audited.prove();
    await audited.tamper('update audit.tile set root = sha256(root)');
    await expect(publisherOf(audited, files)()).rejects.toThrow('the tree there has other events');
    expect(await files.read('checkpoint')).toEqual(before);
  });

  test('is not replaced by a note that somebody has edited', async () => {
    const before = await files.read('checkpoint');
    const { pool, masterKey, eventLog } = audited;
    const publish = publishTreeTo({ files, pool, masterKey, log: eventLog.identity });
    await publish([`${before?.toString().replace(/^\d+$/m, '900')}`, 'no note']);
    expect(await files.read('checkpoint')).toEqual(before);
  });

  test('is not replaced by that of another log', async () => {
    await using other = await createAuditedLog();
    await other.append(2);
    await other.prove();
    await expect(publisherOf(other, files)()).rejects.toThrow('the head there is not of this log');
  });
});

test('a long backlog that was interrupted continues with what is missing, wherever that is', async () => {
  await using audited = await createAuditedLog();
  await using place = await inAFolder();
  await using files = await open(place.url);
  await audited.append(8 * 256 + 5);
  await audited.prove();
  const written: string[] = [];
  let writesMax = 13;
  const counted: PublishedFiles = {
    ...files,
    async write(path, content) {
      if (written.length === writesMax) throw new Error('the place is full');
      await files.write(path, content);
      written.push(path);
    },
  };
  await expect(publisherOf(audited, counted)()).rejects.toThrow('the place is full');
  writesMax = Number.POSITIVE_INFINITY;
  const before = written.length;
  // The place loses one, and damages another.
  await files.remove('tile/0/001');
  await files.write('tile/entries/002', Buffer.from('torn'));
  await publisherOf(audited, counted)();
  // Six of eight full tiles were complete, and the seventh had no entries yet.
  expect(written.slice(before)).toEqual([
    ...['tile/0/001', 'tile/entries/002', 'tile/entries/006'],
    ...['007', '008.p/5'].flatMap((name) => [`tile/0/${name}`, `tile/entries/${name}`]),
    ...['tile/1/000.p/8', 'checkpoint'],
  ]);
  expect((await readTree(audited, files))?.size).toBe(2_053);
});

test('a place in which nothing can be removed gets every head, and none twice', async () => {
  await using audited = await createAuditedLog();
  await using place = await inAFolder();
  await using files = await open(place.url);
  const problems: unknown[] = [];
  const written: string[] = [];
  const { pool, masterKey, eventLog } = audited;
  const publish = publishTreeTo({
    ...{ pool, masterKey, log: eventLog.identity },
    files: {
      ...files,
      write: (path, content) => {
        written.push(path);
        return files.write(path, content);
      },
      remove: () => Promise.reject(new Error('access denied')),
    },
    onNotRemoved: (error) => problems.push(error),
  });
  for (const count of [3, 256]) {
    await audited.append(count);
    await audited.prove();
    await publish([(await readTreeHead(pool))?.note as string]);
  }
  expect((await readTree(audited, files))?.size).toBe(259);
  expect(problems).toHaveLength(1);
  expect(await files.read('tile/0/000.p/3')).toBeDefined();
  written.length = 0;
  await audited.append(1);
  await audited.prove();
  await publish([(await readTreeHead(pool))?.note as string]);
  expect(written).toEqual(['tile/0/001.p/4', 'tile/entries/001.p/4', 'checkpoint']);
  expect(problems).toHaveLength(1);
});

test('a place that does not work holds up nothing, and gets the tree once it works', async () => {
  await using audited = await createAuditedLog();
  await using data = await temporaryDataDir();
  const folder = join(data.path, 'tree');
  await writeFile(folder, 'a file in its place');
  await using files = await open(pathToFileURL(folder).href);
  const { log, logged } = captureLog();
  {
    await using published = startPublishing({ ...audited, files, log });
    await using _chain = await audited.startChain(published.offer);
    await audited.append(5);
    await audited.untilChained();
  }
  expect(logged()).toContain('The tree cannot be published.');
  await rm(folder);
  await using published = startPublishing({ ...audited, files, log });
  await using _chain = await audited.startChain(published.offer);
  await until(
    () => readTree(audited, files),
    (tree) => tree?.size === 5,
  );
});
