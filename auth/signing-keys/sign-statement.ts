import { CompactSign, importJWK } from 'jose';
import type { UserId } from '#kernel/base/brands.ts';
import type { SignatureProof } from '#kernel/base/signature.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { ALGORITHM, type SigningKeys } from './signing-keys.ts';

/** No token has this type, so that neither counts as the other. */
const TYPE = 'annals-signature';
const MS_PER_SECOND = 1_000;

type Dependencies = {
  readonly issuerUrl: string;
  readonly clock: Clock;
  readonly signingKeys: () => SigningKeys;
};

/**
 * States that this person has signed the hash with their password and a code, which nobody else can check: the
 * authorization server signs in their place (RFC 7515), with amr of RFC 8176.
 */
export const signStatement = async (
  { issuerUrl, clock, signingKeys }: Dependencies,
  { userId, hash }: { readonly userId: UserId; readonly hash: string },
): Promise<SignatureProof> => {
  const [signer] = signingKeys();
  if (signer === undefined) throw new Error('there is no key to sign with');
  const { kid = '', kty = '', crv = '', x = '', y = '' } = signer;
  const claims = {
    ...{ iss: issuerUrl, sub: String(userId), statement: hash, amr: ['pwd', 'otp', 'mfa'] },
    iat: Math.floor(clock.nowMs() / MS_PER_SECOND),
  };
  const token = await new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
    .sign(await importJWK(signer, ALGORITHM));
  return { means: 'password', key: { kty, crv, x, y }, token };
};
