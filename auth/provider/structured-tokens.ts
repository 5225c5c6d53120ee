import { createLocalJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import type { Pool } from '#shared/database/pool.ts';
import { type Revocable, revoke, type SeenRevocations } from '#shared/http/authenticate/revocations.ts';
import { ALGORITHM, type SigningKeys } from '../signing-keys/signing-keys.ts';
import { isRevokedNow } from '../storage/is-revoked.ts';
import { publicKeysOf } from './public-keys.ts';

/** What RFC 7662 answers. */
type Introspection = { readonly active: boolean; readonly [member: string]: unknown };

/**
 * Signed access tokens, which oidc-provider neither keeps nor knows again: it answers 400 where we introspect
 * and revoke them.
 */
export type StructuredTokens = {
  /** Its claims, or undefined for a token that is not ours, has expired, or is revoked. */
  find(token: string): Promise<JWTPayload | undefined>;
  introspect(token: string): Promise<Introspection>;
  /**
   * Answers whose token it is where it is not the client's own; a token that is none, or has expired, is
   * nothing to revoke.
   */
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
  userId: Number(claims.sub),
  issuedAtS: Number(claims.iat),
  seen: claims.revocations_seen as SeenRevocations | undefined,
});
