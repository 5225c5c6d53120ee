import { createHash, type KeyObject, randomUUID } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import type { SpentProofs } from '#edge/authenticate/spent-proofs.ts';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';
import type { Caller, Policy } from '#shared/policy.ts';
import { AssertedCaller, assertCaller, readCaller } from './wire.ts';

/**
 * The caller whom a role has verified, signed for the command role alone, for one request body, for one use
 * within a few seconds. The caller’s own token cannot be forwarded: a proof of possession binds it to the outer request.
 */
const AUDIENCE = 'annals:command';
const ALGORITHM = 'HS256';
const LIFETIME_S = 15;
const CLOCK_TOLERANCE_S = 5;

/** An assertion that is missing, false, for another body, used before, or too old. */
export class InvalidAssertion extends Error {
  readonly code = 'invalid_assertion';

  constructor(options?: ErrorOptions) {
    super('the caller assertion is not valid', options);
    this.name = 'InvalidAssertion';
  }
}

export const gatewayKey = (master: MasterKey): Buffer => deriveKey(master, 'gateway-assertion');

type Key = Buffer | KeyObject;

export const signAssertion = (
  key: Key,
  { caller, issuer, body }: { caller: Caller; issuer: string; body: string },
): Promise<string> => {
  const issuedAtS = Math.floor(Date.now() / 1000);
  return new SignJWT({ caller: assertCaller(caller), digest: digestOf(body) })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'caller-assertion+jwt' })
    .setIssuer(issuer)
    .setAudience(AUDIENCE)
    .setJti(randomUUID())
    .setIssuedAt(issuedAtS)
    .setExpirationTime(issuedAtS + LIFETIME_S)
    .sign(key);
};

type Asserted = {
  readonly assertion: string;
  readonly body: string;
  readonly policy: Policy;
  readonly spentProofs: SpentProofs;
};

export const verifyAssertion = async (key: Key, asserted: Asserted): Promise<Caller> => {
  const { caller, payload } = await readAssertion(key, asserted);
  // Last, because only a valid assertion is spent.
  if (await isSpent(asserted.spentProofs, payload))
    throw new InvalidAssertion({ cause: new Error('the assertion was used before') });
  return caller;
};

/**
 * The former release signs without an id. That is no way around it: a recorded assertion cannot lose its id,
 * and those without one end some seconds after the last former process.
 */
const isSpent = async (spentProofs: SpentProofs, { jti, exp }: JWTPayload): Promise<boolean> =>
  jti !== undefined && !(await spentProofs.spend({ signer: AUDIENCE, jti, expiresAtS: Number(exp) }));

type Read = { readonly caller: Caller; readonly payload: JWTPayload };

const readAssertion = async (key: Key, { assertion, body, policy }: Asserted): Promise<Read> => {
  try {
    const { payload } = await jwtVerify(assertion, key, {
      algorithms: [ALGORITHM],
      audience: AUDIENCE,
      typ: 'caller-assertion+jwt',
      clockTolerance: CLOCK_TOLERANCE_S,
      requiredClaims: ['iss', 'iat', 'exp', 'caller', 'digest'],
      maxTokenAge: LIFETIME_S,
    });
    if (payload.digest !== digestOf(body)) throw new Error('the assertion was signed for another body');
    return { caller: readCaller(AssertedCaller.parse(payload.caller), policy), payload };
  } catch (cause) {
    throw new InvalidAssertion({ cause });
  }
};

const digestOf = (body: string): string => createHash('sha256').update(body).digest('base64url');
