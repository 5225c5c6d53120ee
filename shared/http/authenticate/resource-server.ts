import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler } from 'express';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import { type Caller, policyOf } from '#shared/policy.ts';
import { type AuthenticateOptions, authenticate, callerOf, refusalNow } from './authenticate.ts';
import { createVerificationKeys, type LoadKeys } from './keys.ts';
import { followRevocations, migrateRevocations, type RevocationNews, type UserChange } from './revocations.ts';
import { createSpentProofs } from './spent-proofs.ts';
import { startSweeping } from './sweep.ts';

/** Finds out who sends a request, and tells it afterwards. */
export type ResourceServer = AsyncDisposable &
  RevocationNews & {
    readonly handler: RequestHandler;
    callerOf(request: IncomingMessage): Caller;
    /** Why a request that was let in before would not be now; nothing where it would, or where it came without a token. Also by a change of its user. */
    refusalNow(request: Request, change?: UserChange): Error | undefined;
  };

/** What long answers ask of it while they last. */
export type LastingAccess = Pick<ResourceServer, 'refusalNow' | 'revokeUser' | 'onRevoked'>;

type Options = Pick<AuthenticateOptions, 'issuer' | 'audience' | 'ingressSecret' | 'elsewhere'> & {
  readonly pool: Pool;
  readonly log: Log;
  readonly domain: Domain;
  /** From the authorization server: over the network (`fetchKeys`), or directly in one process. */
  readonly loadKeys: LoadKeys;
};

/** The one check of tokens, for every interface of every role. */
export const openResourceServer = async ({ pool, log, domain, loadKeys, ...options }: Options): Promise<ResourceServer> => {
  await migrateRevocations(pool);
  await using opening = new AsyncDisposableStack();
  const revocations = opening.use(await followRevocations({ pool, log }));
  opening.use(startSweeping({ pool, log }));
  const keys = createVerificationKeys({ load: loadKeys, log });
  const handler = authenticate({ ...options, policy: policyOf(domain), keys, revocations, spentProofs: createSpentProofs(pool) });
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
