import { chmod, mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Health } from '#edge/http/health.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { openBlobs } from '#process/engines/open-blobs.ts';
import { type BlobName, newBlobName } from '#shared/blobs/blob-name.ts';
import { BlobsUnavailable } from '#shared/blobs/blobs.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { s3Missing, startS3, type TestS3 } from '../engines/s3.ts';
import type { ArticleId } from '../publishing-ids.ts';
import { captureLog } from '../serve.ts';
import { type BlobEngine, body, testBlobs } from './blobs-contract.ts';

const ARTICLE = 8001 as ArticleId;

const open = (url: string, health = new Health(captureLog().log)) => openBlobs({ url, health });
const filesIn = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
};

const openFolder = async (): Promise<BlobEngine & { readonly folder: string }> => {
  await using opening = new AsyncDisposableStack();
  const { path } = opening.use(await temporaryDataDir());
  const folder = join(path, 'with space', 'uploads');
  const url = pathToFileURL(folder).href;
  const instances = [opening.use(await open(url)), opening.use(await open(url))] as const;
  const resources = opening.move();
  return {
    folder,
    instances,
    files: () => filesIn(folder),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

testBlobs('a folder', openFolder);

describe('blobs in a folder', () => {
  test('have files with their names, and unfinished uploads elsewhere', async () => {
    await using engine = await openFolder();
    const blob = newBlobName(ARTICLE, 'image/png');
    await engine.instances[0].put(blob, body('x'));
    expect((await readdir(engine.folder)).toSorted()).toEqual([blob, 'incoming'].toSorted());
    expect(await readFile(join(engine.folder, blob), 'utf8')).toBe('x');
    expect(await readdir(join(engine.folder, 'incoming'))).toEqual([]);
  });

  test.each(['../secret', 'incoming', '', '.', '/etc/passwd', 'a\u0000.png'])(
    'never become a path out of it: %j',
    async (name) => {
      await using engine = await openFolder();
      await writeFile(join(engine.folder, '..', 'secret'), 'secret');
      const [blobs] = engine.instances;
      await expect(async () => blobs.put(name as BlobName, body('x'))).rejects.toThrow(
        'not the name of a blob',
      );
      await expect(async () => blobs.find(name as BlobName)).rejects.toThrow('not the name of a blob');
      await expect(async () => blobs.read(name as BlobName)).rejects.toThrow('not the name of a blob');
      await expect(async () => blobs.remove(name as BlobName)).rejects.toThrow('not the name of a blob');
      expect(await readFile(join(engine.folder, '..', 'secret'), 'utf8')).toBe('secret');
    },
  );

  test('are never read through a symbolic link', async () => {
    await using engine = await openFolder();
    const blob = newBlobName(ARTICLE, 'image/png');
    await writeFile(join(engine.folder, '..', 'secret'), 'secret');
    await symlink(join(engine.folder, '..', 'secret'), join(engine.folder, blob));
    expect(await engine.instances[0].find(blob)).toBeUndefined();
    expect(await engine.instances[0].read(blob)).toBeUndefined();
  });

  test('of a killed process are removed at the next start, except possibly active uploads', async () => {
    await using engine = await openFolder();
    const [old, young] = ['old', 'young'].map((name) => join(engine.folder, 'incoming', name)) as [
      string,
      string,
    ];
    for (const file of [old, young]) await writeFile(file, 'part');
    const longAgoS = Date.now() / 1_000 - 7_200;
    await utimes(old, longAgoS, longAgoS);
    await using _again = await open(pathToFileURL(engine.folder).href);
    expect(await readdir(join(engine.folder, 'incoming'))).toEqual(['young']);
  });

  test('are unavailable while the disk fails, and available afterwards', async () => {
    await using engine = await openFolder();
    const [blobs] = engine.instances;
    await rm(engine.folder, { recursive: true });
    await writeFile(engine.folder, 'a file in its place');
    const blob = newBlobName(ARTICLE, 'image/png');
    await expect(blobs.put(blob, body('x'))).rejects.toThrow(BlobsUnavailable);
    await expect(blobs.find(blob)).rejects.toThrow(BlobsUnavailable);
    await expect(blobs.read(blob)).rejects.toThrow(BlobsUnavailable);
    await expect(blobs.check()).rejects.toThrow();
    await rm(engine.folder);
    await mkdir(join(engine.folder, 'incoming'), { recursive: true });
    await blobs.put(blob, body('x'));
    expect(await blobs.find(blob)).toEqual({ bytes: 1 });
  });

  test('an unusable folder is refused at the start, in one sentence', async () => {
    await using data = await temporaryDataDir();
    await writeFile(join(data.path, 'file'), '');
    await chmod(join(data.path, 'file'), 0o444);
    const folder = join(data.path, 'file', 'uploads');
    await expect(open(pathToFileURL(folder).href)).rejects.toThrow(StartRefused);
    await expect(open(pathToFileURL(folder).href)).rejects.toThrow(
      `The folder ${folder} cannot be used for uploads: ENOTDIR`,
    );
  });

  test('the readiness of a process depends on it', async () => {
    await using data = await temporaryDataDir();
    const health = new Health(captureLog().log);
    await using _blobs = await open(pathToFileURL(join(data.path, 'uploads')).href, health);
    expect(await health.readiness()).toEqual({ status: 'ready', checks: { uploads: 'pass' } });
    await rm(join(data.path, 'uploads'), { recursive: true });
    expect(await health.readiness()).toEqual({ status: 'not ready', checks: { uploads: 'fail' } });
  });
});

if (s3Missing !== undefined) {
  test.skip(`blobs: S3: ${s3Missing}`, () => {});
} else {
  testBlobs('S3', async () => {
    await using opening = new AsyncDisposableStack();
    const s3 = opening.use(await startS3());
    const url = s3.url({ prefix: 'some/where' });
    const instances = [opening.use(await open(url)), opening.use(await open(url))] as const;
    const resources = opening.move();
    return { instances, files: s3.keys, [Symbol.asyncDispose]: () => resources.disposeAsync() };
  });

  describe('blobs in S3', () => {
    let s3: TestS3;
    beforeAll(async () => {
      s3 = await startS3();
    });
    afterAll(() => s3?.[Symbol.asyncDispose]());

    test('are stored below the prefix, in the bucket', async () => {
      await using blobs = await open(s3.url({ prefix: 'some/where' }));
      const blob = newBlobName(ARTICLE, 'image/png');
      await blobs.put(blob, body('x'));
      expect(await s3.keys()).toEqual([`some/where/${blob}`]);
    });

    test.each([
      ['a wrong secret', { secret: 'wrong-secret' }, 'the credentials are wrong, or may not list the bucket'],
      ['a bucket that is not there', { bucket: 'absent' }, 'there is no such bucket'],
    ])('%s is refused at the start, in one sentence without the secret', async (_what, changes, reason) => {
      const refused = await open(s3.url(changes)).catch((error: unknown) => error as Error);
      expect(refused).toBeInstanceOf(StartRefused);
      expect((refused as Error).message).toContain(reason);
      expect((refused as Error).message).not.toMatch(/secret/);
    });

    test('are unavailable without the server, and then nothing can be started', async () => {
      await using mortal = await startS3();
      const health = new Health(captureLog().log, 10_000);
      await using blobs = await open(mortal.url(), health);
      expect((await health.readiness()).status).toBe('ready');
      await mortal.kill();
      const blob = newBlobName(ARTICLE, 'image/png');
      await expect(blobs.put(blob, body('x'), { bytes: 1 })).rejects.toThrow(BlobsUnavailable);
      await expect(blobs.put(blob, body('x'))).rejects.toThrow(BlobsUnavailable);
      await expect(blobs.find(blob)).rejects.toThrow(BlobsUnavailable);
      await expect(blobs.read(blob)).rejects.toThrow(BlobsUnavailable);
      await expect(blobs.remove(blob)).rejects.toThrow(BlobsUnavailable);
      expect((await health.readiness()).status).toBe('not ready');
      await expect(open(mortal.url())).rejects.toThrow(/cannot be used for uploads: .*ECONNREFUSED/);
    });
  });
}
