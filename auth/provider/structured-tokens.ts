import { createLocalJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { type Revocable, revoke, type SeenRevocations } from '#edge/authenticate/revocations.ts';
import type { Pool } from '#shared/database/pool.ts';
import { ALGORITHM, type SigningKeys } from '../signing-keys/signing-keys.ts';
import { isRevokedNow } from '../storage/is-revoked.ts';
import type { Act } from './act.ts';
import { publicKeysOf } from './public-keys.ts';

/** The answer of RFC 7662. */
type Introspection = { readonly active: boolean; readonly [member: string]: unknown };

/**
 * Signed access tokens. oidc-provider does not store or recognise them: it answers 400 to their introspection
 * and revocation, so both are implemented here.
 */
export type StructuredTokens = {
  /** Returns its claims; undefined for a token that is not ours, has expired, or is revoked. */
  find(token: string): Promise<JWTPayload | undefined>;
  introspect(token: string): Promise<Introspection>;
  /** Returns `not_yours` for another client's token. An invalid or expired token needs no revocation. */
  revoke(token: string, clientId: string): Promise<'done' | 'not_yours'>;
};

type Dependencies = {
  readonly pool: Pool;
  readonly issuer: string;
  readonly resource: string;
  readonly keys: () => SigningKeys;
};

const INACTIVE: Introspection = { active: false };

export const createStructuredTokens = ({ pool, issuer, resource, keys }: Dependencies): StructuredTokens => {
  const read = async (token: string): Promise<JWTPayload | undefined> => {
    try {
      const options = { issuer, audience: resource, typ: 'at+jwt', algorithms: [ALGORITHM] };
      return (await jwtVerify(token, createLocalJWKSet(publicKeysOf(keys())), options)).payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  };
  const find = async (token: string): Promise<JWTPayload | undefined> => {
    const claims = await read(token);
    return claims === undefined || (await isRevokedNow(pool, revocableOf(claims))) ? undefined : claims;
  };
  return {
    find,
    async introspect(token) {
      const claims = await find(token);
      if (claims === undefined) return INACTIVE;
      const { cnf } = claims as { cnf?: { jkt?: string } };
      return { ...claims, active: true, token_type: cnf?.jkt === undefined ? 'Bearer' : 'DPoP' };
    },
    async revoke(token, clientId) {
      const claims = await read(token);
      if (claims === undefined) return 'done';
      if (claims.client_id !== clientId) return 'not_yours';
      await revoke(pool, 'jti', String(claims.jti));
      return 'done';
    },
  };
};

/** Our own claims, whose signature has just been checked. */
const revocableOf = (claims: JWTPayload): Omit<Revocable, 'userVersion'> => ({
  jti: String(claims.jti),
  grantId: claims.grant_id as string | undefined,
  clientId: String(claims.client_id),
  application: (claims.act as Act | undefined)?.act.sub,
  userId: Number(claims.sub),
  issuedAtS: Number(claims.iat),
  seen: claims.revocations_seen as SeenRevocations | undefined,
});
