import type { Request } from 'express';
import type { ImageType } from '#shared/blobs/blob-name.ts';
import { HEAD_BYTES, imageTypeOf } from '#shared/blobs/image-type.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';
import { IMAGE_TYPES } from '#shared/rest/articles.ts';

export const PICTURE_BYTES_MAX = 10 * 1_048_576;

/** What the headers say of a picture; refuses what cannot be one before any of it is read. */
export const demandPicture = (request: Request): ImageType => {
  const [declared = ''] = (request.get('Content-Type') ?? '').split(';', 1);
  const type = IMAGE_TYPES.find((each) => each === declared.trim().toLowerCase());
  if (type === undefined) throw unsupported(`Send ${IMAGE_TYPES.join(', ')}.`);
  if (!/^(?:identity)?$/i.test(request.get('Content-Encoding') ?? '')) throw unsupported('Send the picture without a Content-Encoding.');
  if (request.get('Content-Range') !== undefined)
    throw new HttpProblem('malformed_request', { detail: 'Send the whole picture, without Content-Range.' });
  if (Number(request.get('Content-Length') ?? 0) > PICTURE_BYTES_MAX) throw tooLarge();
  return type;
};

export type Picture = AsyncDisposable & { readonly chunks: AsyncIterable<Uint8Array> };

/** The bytes of a picture as they come, once its first ones have shown that it is of the type that it was said to be. */
export const receivePicture = async (request: Request, type: ImageType): Promise<Picture> => {
  await using opening = new AsyncDisposableStack();
  const coming = opening.adopt(bytesOf(request), async (chunks) => void (await chunks.return(undefined)));
  const head = await readHead(coming);
  if (head.length === 0) throw new HttpProblem('invalid_request', { detail: 'The picture is empty.' });
  if (imageTypeOf(head) !== type) throw unsupported(`The bytes are not those of ${type}.`);
  const resources = opening.move();
  return { chunks: joined(head, coming), [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

const bytesOf = async function* (request: Request): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  try {
    // Leaving it early must not destroy the connection, on which the answer goes.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Buffer).length;
      if (bytes > PICTURE_BYTES_MAX) throw tooLarge();
      yield chunk as Buffer;
    }
  } catch (cause) {
    throw cause instanceof HttpProblem ? cause : new HttpProblem('malformed_request', { detail: 'The picture broke off.', cause });
  }
};

const readHead = async (coming: AsyncGenerator<Uint8Array, void, undefined>): Promise<Uint8Array> => {
  let head = Buffer.alloc(0);
  while (head.length < HEAD_BYTES) {
    const { value, done } = await coming.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  return head;
};

const joined = async function* (head: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  yield head;
  yield* rest;
};

const tooLarge = () => new HttpProblem('body_too_large', { detail: `A picture has at most ${PICTURE_BYTES_MAX} bytes.` });

const unsupported = (detail: string) => new HttpProblem('unsupported_media_type', { detail, headers: { Accept: IMAGE_TYPES.join(', ') } });
