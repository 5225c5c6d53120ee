import { addAbortSignal, type Readable } from 'node:stream';
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { S3Address } from '#shared/blobs/blob-url.ts';
import type { PublishedFiles } from '#shared/blobs/published-files.ts';
import { clientOf, inTime, isAbsent } from './client.ts';

/** Whether others may read the bucket is set at the bucket. */
export const openPublishedBucket = (
  address: S3Address,
  { bytesMax = BYTES_MAX }: { readonly bytesMax?: number | undefined } = {},
): PublishedFiles => {
  const { bucket, prefix } = address;
  const client = clientOf(address);
  const objectOf = (path: string) => ({ Bucket: bucket, Key: `${prefix}${path}` });
  return {
    async read(path) {
      return inTime(async (options) => {
        const object = await client.send(new GetObjectCommand(objectOf(path)), options);
        return contentOf(addAbortSignal(options.abortSignal, object.Body as Readable), { path, bytesMax });
      }).catch((error: unknown) => {
        if (!isAbsent(error)) throw error;
        return undefined;
      });
    },
    async write(path, content) {
      const command = new PutObjectCommand({ ...objectOf(path), Body: content });
      await inTime((options) => client.send(command, options));
    },
    async remove(path) {
      await inTime((options) => client.send(new DeleteObjectCommand(objectOf(path)), options));
    },
    [Symbol.asyncDispose]: async () => client.destroy(),
  };
};

/** More than a tile has, or a checkpoint with the cosignatures of hundreds of witnesses. */
const BYTES_MAX = 1_048_576;

const contentOf = async (
  body: Readable,
  { path, bytesMax }: { readonly path: string; readonly bytesMax: number },
): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > bytesMax) throw new Error(`${path} in the bucket is too large for a file of the log`);
    parts.push(part);
  }
  return Buffer.concat(parts);
};
