import { createHash, randomBytes } from 'node:crypto';
import { contentOf, type Der, DerWrong, der, inside, oid, readDer, TAG } from './der.ts';

/** Requests for time stamps, and their answers (RFC 3161, 2.4). */

const SHA_256 = '2.16.840.1.101.3.4.2.1';
const NONCE_BYTES = 8;

export type TimeStampRequest = { readonly bytes: Buffer; readonly nonce: Buffer };

/** Asks for a stamp over the data that has the certificate of its signer. */
export const requestTimeStamp = (data: Buffer): TimeStampRequest => {
  const nonce = der(TAG.integer, positive(randomBytes(NONCE_BYTES)));
  const imprint = der(
    TAG.sequence,
    der(TAG.sequence, oid(SHA_256), der(TAG.nothing)),
    der(TAG.octets, createHash('sha256').update(data).digest()),
  );
  const [version, certificate] = [der(TAG.integer, Buffer.of(1)), der(TAG.boolean, Buffer.of(0xff))];
  return { bytes: der(TAG.sequence, version, imprint, nonce, certificate), nonce };
};

/** The shortest form of a positive integer: no zero before it, and no sign. */
const positive = (bytes: Buffer): Buffer => {
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes;
};

const GRANTED = [0, 1];

/** The token of an answer; a sentence if there is none. */
export const tokenIn = (answer: Buffer): Buffer | string => {
  try {
    const [status, token] = inside(readSequence(answer));
    const [code, texts] = inside(status ?? fail());
    const number = contentOf(code, TAG.integer).readIntBE(0, 1);
    if (GRANTED.includes(number) && token !== undefined) return token.whole;
    const reason = texts?.tag === TAG.sequence ? inside(texts).map(({ content }) => content.toString()) : [];
    return `It refused to stamp (status ${number})${reason.length > 0 ? `: ${reason.join(' ')}` : ''}.`;
  } catch (error) {
    if (error instanceof DerWrong || error instanceof RangeError) return 'Its answer is no time stamp.';
    throw error;
  }
};

const readSequence = (bytes: Buffer): Der => {
  const value = readDer(bytes);
  contentOf(value, TAG.sequence);
  return value;
};

const fail = (): never => {
  throw new DerWrong();
};
