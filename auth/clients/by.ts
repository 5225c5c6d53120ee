import { actorOf, type Caller } from '#shared/policy.ts';
import type { SecurityCircumstances } from '../security/security-log.ts';
import type { SettleResult } from '../storage/keyed-writes.ts';

/** The caller who changes a client, and the request. */
export type By = { readonly caller: Caller; readonly requestId: string };

/** `settle` is called in the transaction of the change. */
export type SettledBy<Result> = By & { readonly settle?: SettleResult<Result> };

export const circumstancesOf = ({ caller, requestId }: By): SecurityCircumstances => ({
  actor: actorOf(caller),
  client: caller.kind === 'user' ? caller.client : null,
  requestId,
});
