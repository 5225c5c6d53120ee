import { setTimeout as delay } from 'node:timers/promises';
import type { UserId, WebhookId } from '#kernel/base/brands.ts';
import type { Cursor } from '#kernel/base/cursor.ts';
import type { RegisterWebhook } from '#shared/commands/webhook.ts';
import { until } from '../../testing/until.ts';
import { as, by, registerUser, system } from '../engines/command-side.ts';
import type { EndpointKind } from './endpoint-kinds.ts';
import type { FollowedRoles } from './followed-roles.ts';
import type { LosableQueue } from './lost-queue.ts';
import { type Receiver, startReceiver } from './receivers.ts';
import { readProgress } from './webhook-ledger.ts';

export type Endpoint = {
  readonly kind: EndpointKind;
  readonly receiver: Receiver;
  readonly webhookId: WebhookId;
  /** The current and former secrets. */
  readonly secrets: string[];
};

export const DISPATCHERS = 2;
/** After this silence, another process gets the run, and must not be disturbed by the former one. */
const LONGER_THAN_A_RUN_MS = 11_000;
const PAUSE_MS_MAX = 3_000;
const AWAY_MS_MAX = 400;

export const FAULTS = [
  ...([
    'dispatcher killed',
    'dispatcher killed',
    'dispatcher killed',
    'dispatcher killed',
    'dispatcher paused',
    'dispatcher paused',
  ] as const),
  ...([
    'queue lost',
    'queue lost',
    'queue lost',
    'receiver killed',
    'receiver killed',
    'receiver killed',
    'projector killed',
  ] as const),
];
export type Fault = (typeof FAULTS)[number] | 'dispatcher paused for longer than a run';

type Installation = {
  readonly roles: FollowedRoles;
  readonly queue: LosableQueue;
  readonly endpoints: readonly Endpoint[];
  readonly random: () => number;
};

/** Injects faults, one after the other. Paused processes resume by themselves; `settled` waits for that. */
export const createTrouble = ({ roles, queue, endpoints, random }: Installation) => {
  const returning: Promise<unknown>[] = [];
  const paused = new Set<number>();
  const somePlace = () => Math.floor(random() * DISPATCHERS);
  const pause = (place: number, ms: number): void => {
    const dispatcher = roles.dispatcher(place);
    paused.add(place);
    dispatcher.signal('SIGSTOP');
    const goOn = () => {
      dispatcher.signal('SIGCONT');
      paused.delete(place);
    };
    returning.push(delay(ms).then(goOn));
  };
  const kill = async (): Promise<void> => {
    const place = somePlace();
    // A paused process must resume only after others have taken over.
    await roles.replace('webhook-dispatcher', paused.has(place) ? DISPATCHERS - 1 - place : place, 'SIGKILL');
  };
  const sendAway = async ({ receiver }: Endpoint): Promise<void> => {
    await receiver.kill();
    await delay(random() * AWAY_MS_MAX);
    await receiver.start();
  };
  return {
    async make(fault: Fault): Promise<void> {
      switch (fault) {
        case 'dispatcher killed':
          return kill();
        case 'dispatcher paused':
          return pause(somePlace(), random() * PAUSE_MS_MAX);
        case 'dispatcher paused for longer than a run':
          return pause(somePlace(), LONGER_THAN_A_RUN_MS);
        case 'queue lost':
          return queue.lose(roles.side.pool, random);
        case 'receiver killed':
          await Promise.all(endpoints.filter(({ kind }) => kind.manner.isKilled).map(sendAway));
          return undefined;
        case 'projector killed':
          await roles.replace('projector', 0, 'SIGKILL');
      }
    },
    settled: () => Promise.all(returning),
  };
};

export const openEndpoint = async (
  roles: FollowedRoles,
  kind: EndpointKind,
  random: () => number,
): Promise<Endpoint> => {
  const receiver = await startReceiver(kind.manner, random);
  const more = { url: `${receiver.url}/hook`, description: null, headers: {}, enabled: true };
  const command: RegisterWebhook = { type: 'RegisterWebhook', ...kind.asks, ...more };
  const { id, secret = '' } = await roles.gateway.send(command, by(as(kind.owner.userId, kind.owner.role)));
  return { kind, receiver, webhookId: id as WebhookId, secrets: [secret] };
};

/** As the owner of the webhook. */
export const ask = async (
  { gateway }: FollowedRoles,
  { webhookId, kind, secrets }: Endpoint,
  asked: Asked,
): Promise<Cursor> => {
  const { secret, cursor } = await gateway.send(
    { ...asked, webhookId },
    by(as(kind.owner.userId, kind.owner.role)),
  );
  if (secret !== undefined) secrets.push(secret);
  return cursor;
};

type Asked =
  | { readonly type: 'EnableWebhook' | 'RedriveWebhook' | 'RotateWebhookSecret' }
  | { readonly type: 'ReplayWebhook'; from?: string };

/**
 * Disables it as its owner, or as a dispatcher to which it fails. Returns where to replay from, if that is
 * not known otherwise.
 */
export const disable = async (
  { gateway }: FollowedRoles,
  { webhookId, kind }: Endpoint,
): Promise<Cursor | undefined> => {
  const { disabledAs: reason = 'owner', owner } = kind;
  const caller = reason === 'owner' ? as(owner.userId, owner.role) : system;
  const { cursor } = await gateway.send({ type: 'DisableWebhook', webhookId, reason }, by(caller));
  return reason === 'owner' ? cursor : undefined;
};

/** Waits until all events are planned, and no delivery waits for an attempt. */
export const untilDelivered = async ({ side }: FollowedRoles, timeoutMs: number): Promise<void> => {
  await until(
    async () => ({ ...(await readProgress(side.pool)), head: await side.eventLog.head() }),
    ({ planned, due, replays, head }) => planned === head && due?.length === 0 && replays === 0,
    timeoutMs,
  );
};

export const people = async ({
  gateway,
}: FollowedRoles): Promise<Readonly<Record<'ada' | 'bob' | 'admin', UserId>>> => ({
  ada: await registerUser(gateway),
  bob: await registerUser(gateway),
  admin: await registerUser(gateway, { role: 'admin' }),
});
