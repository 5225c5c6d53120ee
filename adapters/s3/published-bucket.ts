import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { S3Address } from '#shared/blobs/blob-url.ts';
import type { PublishedFiles } from '#shared/blobs/published-files.ts';
import { clientOf, inTime, isAbsent } from './client.ts';

/** Whether others may read the bucket is set at the bucket. */
export const openPublishedBucket = (address: S3Address): PublishedFiles => {
  const { bucket, prefix } = address;
  const client = clientOf(address);
  const objectOf = (path: string) => ({ Bucket: bucket, Key: `${prefix}${path}` });
  return {
    async read(path) {
      const object = await inTime((options) =>
        client.send(new GetObjectCommand(objectOf(path)), options),
      ).catch((error: unknown) => {
        if (!isAbsent(error)) throw error;
        return undefined;
      });
      return object && (await buffer(object.Body as Readable));
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
