import { createHmac, timingSafeEqual } from 'node:crypto';

/** Time-based codes (RFC 6238) as every app supports them: SHA-1, six digits, thirty seconds. */
const STEP_MS = 30_000;
const DIGITS = 6;
/** A phone's clock may differ from ours by this many steps. */
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

/** The step of the code; undefined if the code belongs to no current step. */
export const stepOfCode = (secret: Buffer, code: string, atMs: number): number | undefined => {
  const given = Buffer.from(code);
  const now = stepAt(atMs);
  let found: number | undefined;
  for (let step = now - STEPS_ASIDE; step <= now + STEPS_ASIDE; step += 1) {
    const expected = Buffer.from(codeOf(secret, step));
    // The later step if two have equal codes, so that neither can be used again.
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

/** The text of the QR code. An app shows both names, so that users can distinguish their accounts. */
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
  // Some apps show a plus sign instead of a space.
  const encoded = query.toString().replaceAll('+', '%20');
  return `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(account)}?${encoded}`;
};
