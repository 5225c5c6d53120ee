import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { typeOfBlob } from '#shared/blobs/blob-name.ts';
import type { S3Address } from '#shared/blobs/blob-url.ts';
import { type Blobs, BlobsUnavailable } from '#shared/blobs/blobs.ts';
import { type IncomingBody, receive } from '#shared/blobs/incoming-body.ts';
import { clientOf, inTime, isAbsent } from './client.ts';

/** The least size of a part in S3; so much of a body of unknown length is in memory at a time. */
const PART_BYTES = 5 * 1_048_576;

/** Stores each blob as an object in a bucket of AWS or a compatible server. */
export const openS3Blobs = (address: S3Address): Blobs => {
  const { bucket, prefix } = address;
  const client = clientOf(address);
  const objectOf = (name: string) => ({ Bucket: bucket, Key: `${prefix}${name}` });
  const remove: Blobs['remove'] = async (name) =>
    void (await inTime((options) => client.send(new DeleteObjectCommand(objectOf(name)), options)).catch(
      throwUnavailable,
    ));
  return {
    async put(name, body, { bytes } = {}) {
      const incoming = receive(body, bytes);
      try {
        await store(client, { ...objectOf(name), ContentType: typeOfBlob(name) }, { incoming, bytes });
      } catch (cause) {
        incoming.throwIfFailed();
        // The object may exist although no response arrived.
        await remove(name).catch(() => {});
        throw new BlobsUnavailable('the bucket did not accept an object', { cause });
      }
    },
    async find(name) {
      const head = await inTime((options) =>
        client.send(new HeadObjectCommand(objectOf(name)), options),
      ).catch(ifAbsent);
      return head && { bytes: head.ContentLength ?? 0 };
    },
    async read(name, range) {
      const part = range && { Range: `bytes=${range.start}-${range.end}` };
      const object = await inTime((options) =>
        client.send(new GetObjectCommand({ ...objectOf(name), ...part }), options),
      ).catch(ifAbsent);
      return object && (object.Body as Readable);
    },
    remove,
    check: async (signal) =>
      void (await client.send(new HeadBucketCommand({ Bucket: bucket }), {
        ...(signal && { abortSignal: signal }),
      })),
    [Symbol.asyncDispose]: async () => client.destroy(),
  };
};

type Object = { readonly Bucket: string; readonly Key: string; readonly ContentType: string };
type Coming = { readonly incoming: IncomingBody; readonly bytes: number | undefined };

/**
 * In one request if the length is known, otherwise in parts; either way it becomes an object at the end or
 * not at all.
 */
const store = async (client: S3Client, object: Object, { incoming, bytes }: Coming): Promise<void> => {
  const abortController = new AbortController();
  const source = Readable.from(incoming.chunks, { objectMode: false });
  // The client does not notice a failed source by itself.
  source.once('error', (error) => abortController.abort(error));
  try {
    if (bytes === undefined) {
      await new Upload({
        client,
        params: { ...object, Body: source },
        queueSize: 1,
        partSize: PART_BYTES,
        abortController,
      }).done();
    } else {
      const command = new PutObjectCommand({ ...object, Body: source, ContentLength: bytes });
      await client.send(command, { abortSignal: abortController.signal });
    }
  } finally {
    source.destroy();
  }
};

const throwUnavailable = (cause: unknown): never => {
  throw new BlobsUnavailable('the bucket did not answer', { cause });
};

/** The readiness check finds out whether the bucket is there. */
const ifAbsent = (error: unknown): undefined => (isAbsent(error) ? undefined : throwUnavailable(error));
