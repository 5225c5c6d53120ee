import { createHash } from 'node:crypto';
import { type FileFacts, queryOfFile, safeFileName } from '#kernel/base/file-address.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { STORED } from '#kernel/decide/accepted-files.ts';
import type { UploadField } from '#kernel/decide/upload-fields.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import type { CommandResult } from '#shared/command-gateway/command-gateway.ts';
import { type BlobName, newBlobName, newFileName, pathOfBlob } from './blob-name.ts';
import { BlobsUnavailable, type UploadStorage } from './blobs.ts';
import type { IncomingFile } from './incoming-file.ts';
import { scanFile } from './scan-file.ts';

export type ReceivingBlobs = Pick<UploadStorage, 'put' | 'remove' | 'read' | 'scan'>;

type NewUpload = {
  readonly blobs: ReceivingBlobs;
  readonly kind: Kind;
  readonly upload: UploadField;
  /** Of the aggregate that gets it. */
  readonly id: number;
  /** Changes nothing, and is refused as the change itself would be. */
  check(): Promise<unknown>;
  /** Begins to receive the file. */
  receive(): Promise<IncomingFile & { readonly name?: string | undefined }>;
  /** The declared length, which it must have. */
  readonly bytes?: number | undefined;
  /**
   * Sets the field by these members of the command; `digest` is that of the bytes, the same for the same file.
   */
  change(members: Readonly<Record<string, string>>, digest: string): Promise<CommandResult>;
};

/**
 * Stores a file and sets a field to its address. Refuses an unauthorized caller before a byte is stored, and
 * removes the file after a refusal.
 */
export const setUpload = async (upload: NewUpload): Promise<CommandResult> => {
  const { blobs, check, change } = upload;
  await check();
  const { blob, facts } = await store(upload);
  // A file that cannot be removed does no harm.
  const remove = () => blobs.remove(blob).catch(() => {});
  try {
    await scan(upload, blob, facts);
  } catch (error) {
    await remove();
    throw error;
  }
  try {
    const result = await change(membersOf(upload, blob, facts), digestOf(upload, facts));
    if (result.isRepeat) await remove();
    return result;
  } catch (error) {
    // Only a refusal proves that no item names it.
    if (error instanceof Rejection) await remove();
    throw error;
  }
};

const store = async ({ blobs, id, upload, receive, bytes }: NewUpload) => {
  await using file = await receive();
  const blob = upload.accepts.isPicture ? newBlobName(id, file.type) : newFileName(id);
  const hash = createHash('sha256');
  let received = 0;
  const watched = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of file.chunks) {
      hash.update(chunk);
      received += chunk.byteLength;
      yield chunk;
    }
  };
  await blobs.put(blob, watched(), { bytes });
  const facts: FileFacts = {
    type: file.type,
    bytes: received,
    sha256: hash.digest('hex'),
    name: file.name === undefined ? null : (safeFileName(file.name) ?? null),
  };
  return { blob, facts };
};

const scan = async ({ blobs, kind, upload }: NewUpload, blob: BlobName, facts: FileFacts): Promise<void> => {
  if (blobs.scan === undefined) return;
  const { name, list } = upload;
  const content = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    const stored = await blobs.read(blob);
    if (stored === undefined) throw new BlobsUnavailable('a file that was just stored is absent');
    yield* stored;
  };
  await scanFile(blobs.scan, {
    ...facts,
    field: [kind.name, ...(list === undefined ? [] : [list.name]), name].join('.'),
    pointer: `/${name}`,
    content: { [Symbol.asyncIterator]: content },
  });
};

/** The address of a picture is its path; that of another file states its facts. */
const membersOf = ({ upload }: NewUpload, blob: BlobName, facts: FileFacts) => {
  const path = pathOfBlob(blob);
  return upload.accepts.isPicture
    ? { [upload.name]: path }
    : { [upload.name]: `${path}?${queryOfFile(facts)}`, [STORED]: upload.name };
};

/** Of a file also its facts, whose text may be longer than the content that a request can state. */
const digestOf = ({ upload }: NewUpload, facts: FileFacts): string =>
  upload.accepts.isPicture
    ? Buffer.from(facts.sha256, 'hex').toString('base64url')
    : createHash('sha256').update(queryOfFile(facts)).digest('base64url');
