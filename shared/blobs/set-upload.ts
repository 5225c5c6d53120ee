import { createHash, type Hash } from 'node:crypto';
import type { CommandResult } from '#shared/command-gateway/command-gateway.ts';
import { Rejection } from '#shared/rejection.ts';
import { newBlobName, pathOfBlob } from './blob-name.ts';
import type { Blobs } from './blobs.ts';
import type { Picture } from './picture.ts';

type NewUpload = {
  readonly blobs: Pick<Blobs, 'put' | 'remove'>;
  /** Of the item whose it becomes. */
  readonly id: number;
  /** Changes nothing, and is refused as the change itself would be. */
  check(): Promise<unknown>;
  /** Begins to take in the picture. */
  receive(): Promise<Picture>;
  /** Where its length was said, it must have it. */
  readonly bytes?: number | undefined;
  /** Makes the path that of the item; `digest` is that of the bytes, the same for the same picture. */
  change(path: string, digest: string): Promise<CommandResult>;
};

/**
 * Keeps a picture and gives it to an item; who may not is refused before a byte is stored, and what was
 * refused is not kept.
 */
export const setUpload = async (upload: NewUpload): Promise<CommandResult> => {
  const { blobs, check, change } = upload;
  await check();
  const { name, digest } = await store(upload);
  // What cannot be removed is in nobody's way.
  const remove = () => blobs.remove(name).catch(() => {});
  try {
    const result = await change(pathOfBlob(name), digest);
    if (result.isRepeat) await remove();
    return result;
  } catch (error) {
    // Only a refusal says for certain that no item names it.
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
