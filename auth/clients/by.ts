import { actorOf, type Caller } from '#shared/policy.ts';
import type { SecurityCircumstances } from '../security-log.ts';

/** The caller who changes a client, and the request. */
export type By = { readonly caller: Caller; readonly requestId: string };

export const circumstancesOf = ({ caller, requestId }: By): SecurityCircumstances => ({
  actor: actorOf(caller),
  client: caller.kind === 'user' ? caller.client : null,
  requestId,
});
