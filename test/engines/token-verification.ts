import { pino } from 'pino';
import { publishing } from '#domain/publishing.ts';
import { openResourceServer } from '#edge/authenticate/resource-server.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import { AUDIENCE, createTokenMint, ISSUER } from '../token-mint.ts';
import { SCOPES } from './policy.ts';

/** The caller of a token; by default with all scopes, through the client `web`. */
export type Bearer = {
  readonly id: number;
  readonly role: string;
  readonly scopes?: readonly string[];
  readonly client?: string;
};

type Verifying = {
  readonly pool: Pool;
  readonly log?: Log | undefined;
  readonly loadKeys: () => Promise<unknown>;
  readonly clock?: Clock;
};

/** A resource server that accepts the tokens of a mint. */
export const openMintedResource = ({
  pool,
  log = pino({ level: 'silent' }),
  loadKeys,
  clock = REAL_TIME,
}: Verifying) =>
  openResourceServer({
    ...{ pool, log, loadKeys, clock, domain: publishing },
    ...{ issuer: ISSUER, audience: AUDIENCE, ingressSecret: undefined },
  });

/** The same, and headers with tokens that it accepts. */
export const openTokenVerification = async ({ pool, log }: Pick<Verifying, 'pool' | 'log'>) => {
  const mint = await createTokenMint();
  const resource = await openMintedResource({ pool, log, loadKeys: async () => mint.jwks });
  return {
    resource,
    async authorization(by: Bearer | null, claims: object = {}): Promise<Record<string, string>> {
      if (by === null) return {};
      const { id, role, scopes = SCOPES, client = 'web' } = by;
      const caller = { sub: String(id), role, scope: scopes.join(' '), client_id: client };
      return { authorization: `Bearer ${await mint.token({ ...caller, ...claims })}` };
    },
  };
};
