import { createHmac, timingSafeEqual } from 'node:crypto';
import { type FileFacts, factsInQuery, queryOfFile } from '#kernel/base/file-address.ts';
import { type BlobName, isFileName, pathOfBlob } from '#shared/blobs/blob-name.ts';

/** An address that grants reading one file until it expires. */
type SignedAddress = { readonly href: string; readonly expiresAt: string } & Partial<FileFacts>;

/** The lifetime of an access token: clients then get a new address from the item. */
const LIFETIME_S = 300;

/** `facts` are those of a file that is no picture; its reader gets them with the file. */
export const signAddress = (key: Buffer, name: BlobName, facts?: FileFacts): SignedAddress => {
  const untilS = Math.floor(Date.now() / 1_000) + LIFETIME_S;
  const query = new URLSearchParams({
    until: String(untilS),
    signature: signatureOf(key, signedTextOf(name, facts), String(untilS)).toString('base64url'),
  });
  const said = facts === undefined ? '' : `${queryOfFile(facts)}&`;
  return {
    href: `${pathOfBlob(name)}?${said}${query}`,
    expiresAt: new Date(untilS * 1_000).toISOString(),
    ...facts,
  };
};

/** The text that a signature covers: also the facts, because the reader gets the file under its type and its name. */
const signedTextOf = (name: BlobName, facts: FileFacts | undefined): string =>
  facts === undefined ? name : `${name}?${queryOfFile(facts)}`;

/** The seconds until a signed address expires; 0 if it is unsigned, false or expired. */
export const secondsLeft = (
  key: Buffer,
  name: BlobName,
  query: Readonly<Record<string, unknown>>,
): number => {
  const { until, signature } = query;
  if (typeof until !== 'string' || typeof signature !== 'string' || !/^\d{1,12}$/.test(until)) return 0;
  const [given, expected] = [
    Buffer.from(signature, 'base64url'),
    signatureOf(key, signedTextOf(name, isFileName(name) ? factsInQuery(query) : undefined), until),
  ];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 0;
  return Math.max(0, Number(until) - Math.floor(Date.now() / 1_000));
};

const signatureOf = (key: Buffer, signed: string, until: string): Buffer =>
  createHmac('sha256', key).update(`${signed} ${until}`).digest();
