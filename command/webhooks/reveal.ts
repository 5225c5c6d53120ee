import type { WebhookId } from '#kernel/base/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import { roleAndAttributesIn } from '#shared/role-and-attributes.ts';
import { withheldOf } from '#shared/webhooks/withheld.ts';
import type { HandlerDependencies, Outcome, Revealed } from '../handling/handler.ts';
import { profileOf, userStream, usersOf } from '../users/user.ts';
import { webhookStream } from './webhook.ts';

type Dependencies = Pick<HandlerDependencies, 'log' | 'codec'>;
type Reveal = (outcome: Outcome) => Promise<Revealed>;

/** Reads the secret of a command back, so that a retry gets the first response; empty if it was erased. */
export const secretReader =
  ({ log, codec }: Dependencies): Reveal =>
  async (outcome) => {
    const event = await decodeEvent({ log, codec }, outcome);
    return event?.type === 'webhook.secret_rotated' && event.data.secret !== null
      ? { secret: event.data.secret }
      : {};
  };

/**
 * Reads the result of a registration back, with the requested types that the owner’s present rights withhold.
 */
export const registrationReader =
  ({ domain, log, codec, states }: Dependencies & Pick<HandlerDependencies, 'domain' | 'states'>): Reveal =>
  async (outcome) => {
    const event = await decodeEvent({ log, codec }, outcome);
    if (event?.type !== 'webhook.registered') return {};
    const { secret, ownerId, eventTypes, scopes } = event.data;
    const owner = profileOf((await states.load(usersOf(domain), userStream(ownerId))).state);
    return {
      ...(secret !== null && { secret }),
      ...(owner && {
        withheld: withheldOf(domain, { eventTypes, scopes }, roleAndAttributesIn(domain, owner)),
      }),
    };
  };

/** Returns the id of a request’s event, by which the test delivery or replay is found. */
export const requestReader =
  ({ log }: Pick<Dependencies, 'log'>): Reveal =>
  async (outcome) => {
    const event = await readEvent(log, outcome);
    return event ? { eventId: event.id } : {};
  };

const decodeEvent = async (
  { log, codec }: Dependencies,
  outcome: Outcome,
): Promise<DecodedEvent | undefined> => {
  const recorded = await readEvent(log, outcome);
  const [event] = recorded ? await codec.decodeAll([recorded]) : [];
  return event;
};

const readEvent = async (
  log: Dependencies['log'],
  { id, version }: Outcome,
): Promise<RecordedEvent | undefined> => {
  for await (const [event] of log.read(webhookStream(id as WebhookId), version, version)) return event;
  return undefined;
};
