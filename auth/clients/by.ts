import { actorOf, type Caller } from '#shared/policy.ts';
import type { SecurityContext } from '../security/security-log.ts';
import type { SettleResult } from '../storage/keyed-writes.ts';

/** The caller who changes a client, and the request. */
export type By = { readonly caller: Caller; readonly requestId: string };

/** `settle` is called in the transaction of the change. */
export type SettledBy<Result> = By & { readonly settle?: SettleResult<Result> };

export const securityContextOf = ({ caller, requestId }: By): SecurityContext => ({
  actor: actorOf(caller),
  client: caller.kind === 'user' ? caller.client : null,
  requestId,
});
