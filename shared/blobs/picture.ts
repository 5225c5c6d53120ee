import { HEAD_BYTES, IMAGE_TYPES, type ImageType, imageTypeOf } from '#kernel/base/image-type.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';

export const PICTURE_BYTES_MAX = 10 * 1_048_576;

export type Picture = AsyncDisposable & {
  readonly type: ImageType;
  readonly chunks: AsyncIterable<Uint8Array>;
};

/** The declared type of a file; refuses any type that is no image before reading the file. */
export const demandPictureType = (contentType: string): ImageType => {
  const [declared = ''] = contentType.split(';', 1);
  const type = IMAGE_TYPES.find((each) => each === declared.trim().toLowerCase());
  if (type === undefined) throw unsupportedPicture(`Send ${IMAGE_TYPES.join(', ')}.`);
  return type;
};

/**
 * The same for a file in a form, which often declares no type, as that of `new Blob([bytes])`: then its bytes
 * decide.
 */
export const pictureTypeOfPart = (contentType: string): ImageType | undefined =>
  UNSAID.has(contentType.trim().toLowerCase()) ? undefined : demandPictureType(contentType);

/** A part without a type counts as plain text (RFC 7578, section 4.4). */
const UNSAID: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'text/plain']);

/**
 * The bytes of an image as they arrive, once the first ones have identified its type, which must equal the
 * declared one, if any.
 */
export const receivePicture = async (
  body: AsyncIterable<Uint8Array>,
  said: ImageType | undefined,
): Promise<Picture> => {
  await using opening = new AsyncDisposableStack();
  const coming = opening.adopt(bytesOf(body), async (chunks) => void (await chunks.return(undefined)));
  const head = await readHead(coming);
  if (head.length === 0) throw new HttpProblem('invalid_request', { detail: 'The picture is empty.' });
  const type = imageTypeOf(head);
  if (type === undefined || (said !== undefined && type !== said))
    throw unsupportedPicture(
      `The file is not a valid ${said ?? `${IMAGE_TYPES.slice(0, -1).join(', ')} or ${IMAGE_TYPES.at(-1)}`}.`,
    );
  const resources = opening.move();
  return { type, chunks: joined(head, coming), [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

const bytesOf = async function* (
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > PICTURE_BYTES_MAX) throw pictureTooLarge();
      yield chunk;
    }
  } catch (cause) {
    throw cause instanceof HttpProblem
      ? cause
      : new HttpProblem('malformed_request', { detail: 'The picture was cut off.', cause });
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

const joined = async function* (
  head: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield head;
  yield* rest;
};

export const pictureTooLarge = () =>
  new HttpProblem('body_too_large', { detail: `A picture has at most ${PICTURE_BYTES_MAX} bytes.` });

export const unsupportedPicture = (detail: string) =>
  new HttpProblem('unsupported_media_type', { detail, headers: { Accept: IMAGE_TYPES.join(', ') } });
