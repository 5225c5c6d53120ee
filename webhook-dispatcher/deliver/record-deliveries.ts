import { actorOf, isOfAuditor } from '#shared/policy.ts';
import { noting } from '#shared/read-log/noted.ts';
import { Notes } from '#shared/read-log/notes.ts';
import type { ReadLog } from '#shared/read-log/read-log.ts';
import type { ComposeBody } from './body.ts';
import type { Outgoing } from './delivery.ts';

/** Records what a body shows of aggregates whose reads are logged, before it is sent: its reader is the owner. */
export const recordDeliveries =
  (compose: ComposeBody, readLog: ReadLog | undefined): ((outgoing: Outgoing) => ReturnType<ComposeBody>) =>
  async (outgoing) => {
    if (readLog === undefined) return compose(outgoing);
    const { owner, endpoint, delivery } = outgoing;
    const notes = new Notes(() => isOfAuditor(owner));
    const composed = await noting(notes, () => compose(outgoing));
    await readLog.record(notes, {
      actor: actorOf(owner),
      reader: owner.userId,
      client: owner.client,
      via: 'webhook',
      operation: 'webhook',
      query: { webhook: endpoint.webhookId },
      request: delivery.eventId,
    });
    return composed;
  };
