import type { WebhookId } from '#shared/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { HandlerDependencies, Outcome, Revealed } from '../handler.ts';
import { webhookStream } from './webhook.ts';

type Dependencies = Pick<HandlerDependencies, 'log' | 'codec'>;
type Reveal = (outcome: Outcome) => Promise<Revealed>;

/** Reads back the secret that a command made, so that a repetition is answered as the first time was; nothing where it was erased. */
export const secretReader =
  ({ log, codec }: Dependencies): Reveal =>
  async (outcome) => {
    const recorded = await readEvent(log, outcome);
    const [event] = recorded ? await codec.decodeAll([recorded]) : [];
    const hasSecret = event?.type === 'webhook.registered' || event?.type === 'webhook.secret_rotated';
    return hasSecret && event.data.secret !== null ? { secret: event.data.secret } : {};
  };

/** Names the event of a request, by whose id the delivery of a test, or a replay, is found. */
export const requestReader =
  ({ log }: Pick<Dependencies, 'log'>): Reveal =>
  async (outcome) => {
    const event = await readEvent(log, outcome);
    return event ? { eventId: event.id } : {};
  };

const readEvent = async (log: Dependencies['log'], { id, version }: Outcome): Promise<RecordedEvent | undefined> => {
  for await (const [event] of log.read(webhookStream(id as WebhookId), version)) return event;
  return undefined;
};
