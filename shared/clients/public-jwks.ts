import * as z from 'zod';
import { token } from '#kernel/base/values.ts';

const KEYS_MAX = 10;
const KEY_CHARACTERS_MAX = 2_000;

const base64url = z
  .string()
  .regex(/^[\w-]+$/)
  .max(KEY_CHARACTERS_MAX);
const commonMembers = {
  kid: token.optional(),
  use: z.literal('sig').optional(),
  alg: token.max(20).optional(),
  x5c: z.array(z.base64().max(10_000)).max(5).optional(),
};

/** Strict, so that a private key or a shared secret is refused rather than stored. */
const publicJwk = z.discriminatedUnion('kty', [
  z.strictObject({
    kty: z.literal('EC'),
    crv: z.enum(['P-256', 'P-384', 'P-521']),
    x: base64url,
    y: base64url,
    ...commonMembers,
  }),
  z.strictObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: base64url, ...commonMembers }),
  z.strictObject({
    kty: z.literal('RSA'),
    n: base64url.min(342, { error: 'Must have at least 2048 bits.' }),
    e: base64url,
    ...commonMembers,
  }),
]);

/**
 * The public keys that authenticate a client; by value, because an address would make us fetch from anywhere.
 */
export const publicJwks = z.strictObject({ keys: z.array(publicJwk).min(1).max(KEYS_MAX) });
