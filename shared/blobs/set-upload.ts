import { createHash, type Hash } from 'node:crypto';
import { Rejection } from '#kernel/base/rejection.ts';
import type { CommandResult } from '#shared/command-gateway/command-gateway.ts';
import { newBlobName, pathOfBlob } from './blob-name.ts';
import type { Blobs } from './blobs.ts';
import type { Picture } from './picture.ts';

type NewUpload = {
  readonly blobs: Pick<Blobs, 'put' | 'remove'>;
  /** Of the item that gets it. */
  readonly id: number;
  /** Changes nothing, and is refused as the change itself would be. */
  check(): Promise<unknown>;
  /** Begins to receive the image. */
  receive(): Promise<Picture>;
  /** The declared length, which it must have. */
  readonly bytes?: number | undefined;
  /** Sets the path on the item; `digest` is that of the bytes, the same for the same image. */
  change(path: string, digest: string): Promise<CommandResult>;
};

/**
 * Stores an image and sets it on an item. Refuses an unauthorized caller before a byte is stored, and removes
 * the file after a refusal.
 */
export const setUpload = async (upload: NewUpload): Promise<CommandResult> => {
  const { blobs, check, change } = upload;
  await check();
  const { name, digest } = await store(upload);
  // A file that cannot be removed does no harm.
  const remove = () => blobs.remove(name).catch(() => {});
  try {
    const result = await change(pathOfBlob(name), digest);
    if (result.isRepeat) await remove();
    return result;
  } catch (error) {
    // Only a refusal proves that no item names it.
    if (error instanceof Rejection) await remove();
    throw error;
  }
};

const store = async ({ blobs, id, receive, bytes }: Omit<NewUpload, 'check' | 'change'>) => {
  await using picture = await receive();
  const name = newBlobName(id, picture.type);
  const hash = createHash('sha256');
  await blobs.put(name, hashed(picture.chunks, hash), { bytes });
  return { name, digest: hash.digest('base64url') };
};

const hashed = async function* (
  chunks: AsyncIterable<Uint8Array>,
  hash: Hash,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
};
