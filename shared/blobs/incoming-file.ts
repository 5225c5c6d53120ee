import { fitsType, hasSignature } from '#kernel/base/file-type.ts';
import { HEAD_BYTES } from '#kernel/base/image-type.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Accepted } from '#kernel/decide/accepted-files.ts';

export type IncomingFile = AsyncDisposable & {
  readonly type: string;
  readonly chunks: AsyncIterable<Uint8Array>;
};

/** The declared type of a file; refuses any type that the field does not accept before reading the file. */
export const demandFileType = (accepted: Accepted, contentType: string): string => {
  const declared = typeIn(contentType);
  const type = accepted.types.find((each) => each === declared);
  if (type === undefined) throw unsupportedFile(accepted, `Send ${accepted.types.join(', ')}.`);
  return type;
};

const typeIn = (contentType: string): string => {
  const [type = ''] = contentType.split(';', 1);
  return type.trim().toLowerCase();
};

/**
 * The same for a file in a form, which often declares no type, as that of `new Blob([bytes])`: then its bytes
 * decide.
 */
export const fileTypeOfPart = (accepted: Accepted, contentType: string): string | undefined => {
  const type = typeIn(contentType);
  return UNSAID.has(type) && !accepted.types.includes(type) ? undefined : demandFileType(accepted, type);
};

/** A part without a type counts as plain text (RFC 7578, section 4.4). */
const UNSAID: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'text/plain']);

/**
 * The bytes of a file as they arrive, once the first ones have been compared with its declared type; if it
 * declares none, they identify it.
 */
export const receiveFile = async (
  body: AsyncIterable<Uint8Array>,
  accepted: Accepted,
  said: string | undefined,
): Promise<IncomingFile> => {
  await using opening = new AsyncDisposableStack();
  const coming = opening.adopt(
    bytesOf(body, accepted),
    async (chunks) => void (await chunks.return(undefined)),
  );
  const head = await readHead(coming);
  if (head.length === 0)
    throw new HttpProblem('invalid_request', { detail: `The ${nounOf(accepted)} is empty.` });
  const type = said === undefined ? typeByBytes(accepted, head) : fitsType(said, head) ? said : undefined;
  if (type === undefined)
    throw unsupportedFile(accepted, `The file is not a valid ${said ?? oneOfTypes(accepted)}.`);
  const resources = opening.move();
  return { type, chunks: joined(head, coming), [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** Types without a signature cannot be told apart; a field that accepts one type alone needs no telling. */
const typeByBytes = ({ types }: Accepted, head: Uint8Array): string | undefined =>
  types.find((type) => (hasSignature(type) || types.length === 1) && fitsType(type, head));

const oneOfTypes = ({ types }: Accepted): string =>
  types.length === 1 ? (types[0] ?? '') : `${types.slice(0, -1).join(', ')} or ${types.at(-1)}`;

const bytesOf = async function* (
  body: AsyncIterable<Uint8Array>,
  accepted: Accepted,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > accepted.bytesMax) throw fileTooLarge(accepted);
      yield chunk;
    }
  } catch (cause) {
    throw cause instanceof HttpProblem
      ? cause
      : new HttpProblem('malformed_request', { detail: `The ${nounOf(accepted)} was cut off.`, cause });
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

export const nounOf = ({ isPicture }: Accepted): string => (isPicture ? 'picture' : 'file');

export const fileTooLarge = (accepted: Accepted) =>
  new HttpProblem('body_too_large', {
    detail: `A ${nounOf(accepted)} has at most ${accepted.bytesMax} bytes${accepted.isPicture ? '' : ' here'}.`,
  });

export const unsupportedFile = ({ types }: Accepted, detail: string) =>
  new HttpProblem('unsupported_media_type', { detail, headers: { Accept: types.join(', ') } });
