import { createHmac, timingSafeEqual } from 'node:crypto';
import { type BlobName, pathOfBlob } from '#shared/blobs/blob-name.ts';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';

/** An address that grants reading one picture until it expires. */
type SignedAddress = { readonly href: string; readonly expiresAt: string };

/** The lifetime of an access token: clients then get a new address from the item. */
const LIFETIME_S = 300;

export const uploadKey = (master: MasterKey): Buffer => deriveKey(master, 'upload-address');

export const signAddress = (key: Buffer, name: BlobName): SignedAddress => {
  const untilS = Math.floor(Date.now() / 1_000) + LIFETIME_S;
  const query = new URLSearchParams({
    until: String(untilS),
    signature: signatureOf(key, name, String(untilS)).toString('base64url'),
  });
  return { href: `${pathOfBlob(name)}?${query}`, expiresAt: new Date(untilS * 1_000).toISOString() };
};

/** The seconds until a signed address expires; 0 if it is unsigned, false or expired. */
export const secondsLeft = (
  key: Buffer,
  name: BlobName,
  { until, signature }: Readonly<Record<string, unknown>>,
): number => {
  if (typeof until !== 'string' || typeof signature !== 'string' || !/^\d{1,12}$/.test(until)) return 0;
  const [given, expected] = [Buffer.from(signature, 'base64url'), signatureOf(key, name, until)];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 0;
  return Math.max(0, Number(until) - Math.floor(Date.now() / 1_000));
};

const signatureOf = (key: Buffer, name: BlobName, until: string): Buffer =>
  createHmac('sha256', key).update(`${name} ${until}`).digest();
