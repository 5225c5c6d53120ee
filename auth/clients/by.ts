import type { Caller } from '#shared/policy.ts';
import type { SecurityCircumstances } from '../security-log.ts';

/** Who changes a client, and by which request. */
export type By = { readonly caller: Caller; readonly requestId: string };

export const circumstancesOf = ({ caller, requestId }: By): SecurityCircumstances => ({
  actor: actorOf(caller),
  client: caller.kind === 'user' ? caller.client : null,
  requestId,
});

const actorOf = (caller: Caller): SecurityCircumstances['actor'] => {
  switch (caller.kind) {
    case 'anonymous':
      return 'anonymous';
    case 'user':
      return `user:${caller.userId}`;
    case 'system':
      return `system:${caller.name}`;
  }
};
