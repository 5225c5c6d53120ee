import { createHmac, timingSafeEqual } from 'node:crypto';

/** Codes by time (RFC 6238), with what every app understands: SHA-1, six digits, thirty seconds. */
const STEP_MS = 30_000;
const DIGITS = 6;
/** The clock of a phone may be this many steps from ours. */
const STEPS_ASIDE = 1;
export const SECRET_BYTES = 20;

export const stepAt = (atMs: number): number => Math.floor(atMs / STEP_MS);

/** RFC 4226, section 5.3. */
export const codeOf = (secret: Buffer, step: number, digits: number = DIGITS): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', secret).update(counter).digest();
  const offset = digest.readUInt8(digest.length - 1) & 0x0f;
  const number = digest.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
};

/** The step whose code it is; undefined where it is none of about now. */
export const stepOfCode = (secret: Buffer, code: string, atMs: number): number | undefined => {
  const given = Buffer.from(code);
  const now = stepAt(atMs);
  let found: number | undefined;
  for (let step = now - STEPS_ASIDE; step <= now + STEPS_ASIDE; step += 1) {
    const expected = Buffer.from(codeOf(secret, step));
    // The later one where two are equal, so that neither is good again.
    if (given.length === expected.length && timingSafeEqual(given, expected)) found = step;
  }
  return found;
};

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BITS = 5;

/** RFC 4648, section 6, without padding: a secret has a whole number of groups. */
export const base32 = (bytes: Buffer): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(new RegExp(`.{1,${BITS}}`, 'g')) ?? [];
  return groups.map((group) => BASE32[Number.parseInt(group.padEnd(BITS, '0'), 2)]).join('');
};

/**
 * What an app reads from the picture; it shows both, so that somebody with accounts at several places can
 * tell them apart.
 */
export const keyUri = (
  secret: Buffer,
  { issuer, account }: { readonly issuer: string; readonly account: string },
): string => {
  const query = new URLSearchParams({
    secret: base32(secret),
    issuer,
    algorithm: 'SHA1',
    digits: String(DIGITS),
    period: '30',
  });
  // An app may show a plus sign where a space is meant.
  const encoded = query.toString().replaceAll('+', '%20');
  return `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(account)}?${encoded}`;
};
