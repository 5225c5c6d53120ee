import type { X509Certificate } from 'node:crypto';
import { contentOf, DerWrong, inside, oid, readDer, TAG } from './der.ts';

const BASIC_CONSTRAINTS = oid('2.5.29.19');
/** Four bytes count more certificates than anybody has in a row. */
const BYTES_MAX = 4;

/**
 * How many certificates of authorities may be between this one and that of the signer (RFC 5280, 4.2.1.9), apart from
 * those that an authority has issued to itself. Infinity without a limit, and -1 if the certificate cannot be read.
 */
export const pathLengthOf = (certificate: X509Certificate): number => {
  try {
    return read(certificate.raw);
  } catch (error) {
    if (error instanceof DerWrong) return -1;
    throw error;
  }
};

const read = (bytes: Buffer): number => {
  const [signed] = inside(readDer(bytes));
  const extensions = signed && inside(signed).find(({ tag }) => tag === TAG.fourth);
  const [list] = extensions === undefined ? [] : inside(extensions);
  if (list === undefined) return Number.POSITIVE_INFINITY;
  const found = inside(list).find((extension) => inside(extension)[0]?.whole.equals(BASIC_CONSTRAINTS));
  if (found === undefined) return Number.POSITIVE_INFINITY;
  const values = inside(readDer(contentOf(inside(found).at(-1), TAG.octets)));
  const length = values.find(({ tag }) => tag === TAG.integer)?.content;
  if (length === undefined) return Number.POSITIVE_INFINITY;
  if (length.length === 0 || length.length > BYTES_MAX) throw new DerWrong();
  return length.readIntBE(0, length.length);
};
