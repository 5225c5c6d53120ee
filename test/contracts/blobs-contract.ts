import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BlobName, newBlobName } from '#shared/blobs/blob-name.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import { until } from '../../testing/until.ts';
import type { ArticleId } from '../publishing-ids.ts';

const ARTICLE = 8001 as ArticleId;

export type BlobEngine = AsyncDisposable & {
  /** One for each process. */
  readonly instances: readonly [Blobs, Blobs];
  /** Everything stored, including unfinished uploads. */
  files(): Promise<readonly string[]>;
};

const MEBIBYTE = 1_048_576;
const bytesOf = async function* (...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
};
const inChunks = (whole: Buffer, bytes = 65_536): AsyncGenerator<Uint8Array> =>
  bytesOf(
    ...Array.from({ length: Math.ceil(whole.length / bytes) }, (_, index) =>
      whole.subarray(index * bytes, (index + 1) * bytes),
    ),
  );

/** The contract of every storage of blobs. */
export const testBlobs = (name: string, open: () => Promise<BlobEngine>): void => {
  describe(`blobs: ${name}`, () => {
    let engine: BlobEngine;
    let blobs: Blobs;
    let other: Blobs;
    beforeAll(async () => {
      engine = await open();
      [blobs, other] = engine.instances;
    });
    afterAll(() => engine?.[Symbol.asyncDispose]());

    const contentOf = async (blob: BlobName): Promise<Buffer | undefined> => {
      const body = await blobs.read(blob);
      return body && (await buffer(body));
    };

    test('report readiness', async () => {
      await blobs.check();
    });

    test.each([0, 1, 70_000, 6 * MEBIBYTE, 11 * MEBIBYTE])(
      'store %d bytes unchanged, of known and of unknown length',
      async (bytes) => {
        const content = randomBytes(bytes);
        for (const about of [{ bytes }, {}]) {
          const blob = newBlobName(ARTICLE, 'image/png');
          await blobs.put(blob, inChunks(content), about);
          expect(await other.find(blob)).toEqual({ bytes });
          expect((await contentOf(blob))?.equals(content)).toBe(true);
        }
      },
    );

    test('find nothing under an unknown name', async () => {
      const blob = newBlobName(ARTICLE, 'image/gif');
      expect(await blobs.find(blob)).toBeUndefined();
      expect(await blobs.read(blob)).toBeUndefined();
      expect(await blobs.read(blob, { start: 0, end: 1 })).toBeUndefined();
    });

    test('return the requested range', async () => {
      const blob = newBlobName(ARTICLE, 'image/avif');
      await blobs.put(blob, bytesOf(Buffer.from('0123'), Buffer.from('456789')), {});
      const part = async (start: number, end: number) =>
        buffer((await blobs.read(blob, { start, end })) as Readable);
      expect((await part(0, 0)).toString()).toBe('0');
      expect((await part(3, 5)).toString()).toBe('345');
      expect((await part(9, 9)).toString()).toBe('9');
    });

    test('delete existing blobs, and ignore missing ones', async () => {
      const [blob, neighbour] = [newBlobName(ARTICLE, 'image/jpeg'), newBlobName(ARTICLE, 'image/jpeg')];
      for (const each of [blob, neighbour]) await blobs.put(each, bytesOf(Buffer.from('x')), { bytes: 1 });
      await other.remove(blob);
      await other.remove(blob);
      expect(await blobs.find(blob)).toBeUndefined();
      expect(await blobs.find(neighbour)).toEqual({ bytes: 1 });
    });

    test.each([
      ['at once', 0, undefined],
      ['after a while', 300_000, undefined],
      ['after a while, of known length', 300_000, 400_000],
      ['after the first parts of many', 7 * MEBIBYTE, undefined],
      ['after much, of known length', 7 * MEBIBYTE, 8 * MEBIBYTE],
    ])(
      'keep nothing of a body that fails %s, and say what it failed with',
      async (_when, bytesBefore, bytes) => {
        const before = await engine.files();
        const failure = new Error('the sender went away');
        const body = async function* (): AsyncGenerator<Uint8Array> {
          yield* inChunks(randomBytes(bytesBefore));
          throw failure;
        };
        const blob = newBlobName(ARTICLE, 'image/webp');
        await expect(blobs.put(blob, body(), { bytes })).rejects.toBe(failure);
        expect(await blobs.find(blob)).toBeUndefined();
        await until(
          () => engine.files(),
          (files) => files.length === before.length,
        );
        expect(await engine.files()).toEqual(before);
      },
    );

    test.each([
      ['shorter', 3],
      ['longer', 5],
    ])('keep nothing of a body that is %s than was said', async (_what, bytes) => {
      const before = await engine.files();
      const blob = newBlobName(ARTICLE, 'image/webp');
      await expect(blobs.put(blob, bytesOf(Buffer.from('01'), Buffer.from('23')), { bytes })).rejects.toThrow(
        RangeError,
      );
      expect(await blobs.find(blob)).toBeUndefined();
      expect(await engine.files()).toEqual(before);
    });

    test('show nothing of an unfinished upload', async () => {
      const blob = newBlobName(ARTICLE, 'image/png');
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const body = async function* (): AsyncGenerator<Uint8Array> {
        yield Buffer.alloc(100_000);
        begin();
        await released;
        yield Buffer.alloc(100_000);
      };
      const put = blobs.put(blob, body(), { bytes: 200_000 });
      await begun;
      expect(await other.find(blob)).toBeUndefined();
      expect(await other.read(blob)).toBeUndefined();
      release();
      await put;
      expect(await other.find(blob)).toEqual({ bytes: 200_000 });
    });

    test('apply backpressure to a fast upload', async () => {
      let [hasTurned, turnedBy] = [false, 0];
      // A reader that never waits would block the event loop.
      setImmediate(() => {
        hasTurned = true;
      });
      const eager = async function* (): AsyncGenerator<Uint8Array> {
        for (let index = 1; index <= 640; index += 1) {
          yield Buffer.alloc(16_384);
          if (!hasTurned) turnedBy = index;
        }
      };
      await blobs.put(newBlobName(ARTICLE, 'image/png'), eager(), { bytes: 640 * 16_384 });
      expect(turnedBy).toBeLessThan(320);
    });

    test('accept many uploads in parallel', async () => {
      const all = Array.from({ length: 12 }, () => ({
        blob: newBlobName(ARTICLE, 'image/png'),
        content: randomBytes(200_000),
      }));
      await Promise.all(
        all.map(({ blob, content }, index) => (index % 2 ? blobs : other).put(blob, inChunks(content), {})),
      );
      for (const { blob, content } of all) expect((await contentOf(blob))?.equals(content)).toBe(true);
    });

    test('release a read that is abandoned', async () => {
      const blob = newBlobName(ARTICLE, 'image/png');
      await blobs.put(blob, inChunks(randomBytes(2 * MEBIBYTE)), {});
      for (let index = 0; index < 100; index += 1) {
        const body = (await blobs.read(blob)) as Readable;
        await new Promise((resolve) => body.once('data', resolve));
        body.destroy();
      }
      expect(await blobs.find(blob)).toEqual({ bytes: 2 * MEBIBYTE });
    });
  });
};

export const body = (text: string): Readable => Readable.from([Buffer.from(text)]);
