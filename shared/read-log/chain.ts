import { createHash } from 'node:crypto';

/** The hash of an entry, as the database computes it. */
export const nextHash = (before: Buffer, number: number, entry: string): Buffer => {
  const place = Buffer.alloc(8);
  place.writeBigInt64BE(BigInt(number));
  return createHash('sha256').update(before).update(place).update(entry).digest();
};
