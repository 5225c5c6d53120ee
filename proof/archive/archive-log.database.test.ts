import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import { openPublishedFiles } from '#process/engines/open-published-files.ts';
import type { PublishedFiles } from '#shared/blobs/published-files.ts';
import { test as base } from '../../test/engines/audited-log.ts';
import { temporaryDataDir } from '../../test/engines/data-dir.ts';
import { archiveLog } from './archive-log.ts';
import { checkArchive } from './check-archive.ts';

const { signal } = new AbortController();

const test = base
  .extend('fill', { scope: 'file' }, () => async (audited) => {
    await audited.append(30);
    await audited.prove();
  })
  .extend('archive', { scope: 'test' }, async ({ audited }, { onCleanup }) => {
    const used = new AsyncDisposableStack();
    onCleanup(() => used.disposeAsync());
    const place = join(used.use(await temporaryDataDir()).path, 'archive');
    const files = used.use(
      await openPublishedFiles(pathToFileURL(place).href, 'the archive', { isPrivate: true }),
    );
    const add = async (upTo?: Position, to: PublishedFiles = files) =>
      archiveLog(
        { ...audited, files: to, signal, onProgress: () => {}, fileBytesMax: 4_000 },
        upTo ?? (await audited.eventLog.head()),
      );
    const check = async (key?: string) => {
      const streams: string[] = [];
      const segments = await checkArchive({
        ...{ files, key, signal },
        onEvents: (events) => void streams.push(...events.map(({ stream }) => stream)),
      });
      return { segments, streams };
    };
    return { place, files, add, check };
  });

test('segments continue each other, and are checked without the log', async ({ audited, archive }) => {
  const head = await audited.eventLog.head();
  const first = await archive.add(Math.floor(head / 2) as Position);
  const second = await archive.add();
  expect([first?.number, second?.number]).toEqual([1, 2]);
  expect(second?.manifest.chain.before).toEqual(first?.manifest.chain.after);
  expect(await archive.add()).toBe(undefined);
  const { segments, streams } = await archive.check(first?.manifest.key);
  expect(segments.length).toBe(2);
  expect(streams.length).toBe(second?.manifest.chain.after.count);
  expect((await stat(join(archive.place, 'segments/000001/manifest.json'))).mode & 0o077).toBe(0);
  await expect(archive.check('another')).rejects.toThrow('is signed neither by the key another');
});

test('every damage is found', async ({ audited, archive: { place, add, check } }) => {
  const head = await audited.eventLog.head();
  await add(Math.floor(head / 2) as Position);
  await add();
  const path = (name: string) => join(place, 'segments', name);
  const events = path('000001/events-000001.jsonl');
  const text = await readFile(events, 'utf8');
  await writeFile(events, text.replace('"streamversion":1', '"streamversion":2'));
  await expect(check()).rejects.toThrow('differs from the manifest: it was changed');
  await rm(events);
  await expect(check()).rejects.toThrow('events-000001.jsonl of the archive is missing');
  await writeFile(events, text);
  await check();
  const manifest = await readFile(path('000002/manifest.json'), 'utf8');
  await writeFile(path('000002/manifest.json'), manifest.replace(/"count":\d+/, '"count":1'));
  await expect(check()).rejects.toThrow('segment 2 of the archive');
  // The first segment is gone, and the second stands in its place.
  await writeFile(path('000001/manifest.json'), manifest);
  await expect(check()).rejects.toThrow('do not continue the archive');
});

test('an interrupted command adds nothing, and the next one begins the segment again', async ({
  archive,
}) => {
  const { files, add, check, place } = archive;
  let writes = 0;
  const failing: PublishedFiles = {
    ...files,
    async write(path, content) {
      writes += 1;
      if (writes > 1) throw new Error('killed');
      await files.write(path, content);
    },
  };
  await expect(add(undefined, failing)).rejects.toThrow('killed');
  expect(await readdir(join(place, 'segments/000001'))).not.toContain('manifest.json');
  expect((await check()).segments).toEqual([]);
  await add();
  expect((await check()).segments.length).toBe(1);
});

test('what is not kept as it was written is no segment', async ({ archive }) => {
  const { files, add, check } = archive;
  const losing: PublishedFiles = {
    ...files,
    write: (path, content) => files.write(path, content.subarray(1)),
  };
  await expect(add(undefined, losing)).rejects.toThrow('is not as it was written');
  expect((await check()).segments).toEqual([]);
});
