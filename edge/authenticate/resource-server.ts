import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler } from 'express';
import { attributesOf } from '#kernel/conditions/attributes.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { repeat } from '#shared/clock/repeat.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { Log } from '#shared/log.ts';
import { type Caller, policyOf } from '#shared/policy.ts';
import { createReadAttributes, type ReadAttributes } from '#shared/read-attributes.ts';
import type { RowProofs } from '#shared/row-proofs/row-proofs.ts';
import { InvalidToken } from './access-token.ts';
import { type AuthenticateOptions, authenticate, callerOf, refusalNow } from './authenticate.ts';
import { followRevocations } from './follow-revocations.ts';
import { createVerificationKeys, type LoadKeys } from './keys.ts';
import type { PersonalTokens } from './personal-tokens.ts';
import { migrateRevocations, type RevocationNews, type UserChange } from './revocations.ts';
import { createSpentProofs } from './spent-proofs.ts';

/** Identifies the caller of each request. */
export type ResourceServer = AsyncDisposable &
  RevocationNews & {
    readonly handler: RequestHandler;
    callerOf(request: IncomingMessage): Caller;
    /**
     * The reason why an accepted request would be refused now, given a change of its user if one is known;
     * undefined if it would be accepted, or has no token.
     */
    refusalNow(request: Request, change?: UserChange): Error | undefined;
  };

/** The part that long responses use while they last. */
export type LastingAccess = Pick<ResourceServer, 'refusalNow' | 'revokeUser' | 'onRevoked'>;

type Options = Pick<AuthenticateOptions, 'issuer' | 'audience' | 'ingressSecret' | 'elsewhere'> & {
  readonly pool: Pool;
  readonly log: Log;
  readonly clock: Clock;
  readonly domain: Domain;
  /** All three are needed for personal access tokens, which do not carry the role and the fields of their users. */
  readonly eventLog?: EventLog;
  readonly keys?: KeyStore;
  readonly rowProofs?: Pick<RowProofs, 'check'>;
  /** From the authorization server: over the network (`fetchKeys`), or directly in one process. */
  readonly loadKeys: LoadKeys;
};

/** The one check of tokens, for every interface of every role. */
export const openResourceServer = async ({
  pool,
  log,
  clock,
  domain,
  loadKeys,
  ...given
}: Options): Promise<ResourceServer> => {
  await migrateRevocations(pool);
  await using opening = new AsyncDisposableStack();
  const revocations = opening.use(await followRevocations({ pool, log, clock }));
  opening.use(startSweeping({ pool, log, clock }));
  const { eventLog, keys: personKeys, rowProofs = NO_PROOFS, ...options } = given;
  const policy = policyOf(domain);
  const keys = createVerificationKeys({ load: loadKeys, log, clock });
  const readAttributes = readAttributesOf(domain, { eventLog, keys: personKeys });
  const tokens = { pool, policy, revocations, readAttributes, rowProofs, log, clock };
  const personalTokens = serves(domain, 'accounts')
    ? (await import('./open-personal-tokens.ts')).openPersonalTokens({
        ...tokens,
        ...{ domain, eventLog, keys: personKeys },
      })
    : NO_PERSONAL_TOKENS;
  const handler = authenticate({
    ...options,
    policy,
    keys,
    revocations,
    personalTokens,
    spentProofs: createSpentProofs(pool),
  });
  const resources = opening.move();
  return {
    handler,
    callerOf,
    refusalNow: (request, change) => refusalNow(request, revocations, change),
    revokeUser: revocations.revokeUser,
    onRevoked: revocations.onRevoked,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** Of an installation without accounts. */
const NO_PERSONAL_TOKENS: PersonalTokens = {
  find: async () => {
    throw new InvalidToken('This is not an access token of this installation.');
  },
};

const readAttributesOf = (
  domain: Domain,
  { eventLog, keys }: { eventLog: EventLog | undefined; keys: KeyStore | undefined },
): ReadAttributes => {
  if (eventLog !== undefined && keys !== undefined)
    return createReadAttributes({ domain, eventLog, codec: createCodec({ domain, keys }) });
  if (attributesOf(domain).length > 0)
    throw new Error('Rights compare fields of users, but there is no log to read the fields from');
  return async () => undefined;
};

/** No row counts. */
const NO_PROOFS: Pick<RowProofs, 'check'> = { check: async () => false };

const EVERY_MS = 30_000;
const ROWS_MAX = 5_000;
const ROUNDS_MAX = 40;

/** Removes expired rows, a bounded number at a time; concurrent processes skip each other’s rows. */
const startSweeping = ({
  pool,
  log,
  clock,
  everyMs = EVERY_MS,
}: {
  pool: Pool;
  log: Log;
  clock: Clock;
  everyMs?: number;
}): AsyncDisposable =>
  repeat({
    work: (signal) => sweep(pool, signal),
    wait: (signal) => clock.sleep(everyMs, signal),
    waitsFirst: true,
    onFailure: (err) => log.warn({ err }, 'Expired revocations and proofs could not be removed.'),
  });

const sweep = async (pool: Pool, signal: AbortSignal): Promise<void> => {
  for (const remove of [removeProofs, removeRevocations]) {
    for (let round = 0; round < ROUNDS_MAX && !signal.aborted; round += 1) {
      if ((await remove(pool)) < ROWS_MAX) break;
    }
  }
};

const removeProofs = async (pool: Pool): Promise<number> => {
  const { rowCount } = await pool.query(
    `delete from auth.spent_proof where digest in
       (select digest from auth.spent_proof where expires_at < now() limit $1 for update skip locked)`,
    [ROWS_MAX],
  );
  return rowCount ?? 0;
};

const removeRevocations = async (pool: Pool): Promise<number> => {
  const { rowCount } = await pool.query(
    `delete from auth.revoked where (kind, value) in
       (select kind, value from auth.revoked where expires_at < now() limit $1 for update skip locked)`,
    [ROWS_MAX],
  );
  return rowCount ?? 0;
};
