// Over 200 lines, because it is one run: faults, actions of owners, and the comparison of all deliveries with
// the log.
import { describe, expect, test } from 'vitest';
import type { Pool } from '#shared/database/pool.ts';
import { scaled } from '../../testing/load.ts';
import { createRandom } from '../../testing/random.ts';
import { SEED } from '../../testing/seed.ts';
import { until } from '../../testing/until.ts';
import { addComment, allEvents, draftArticle } from '../engines/command-side.ts';
import { redisMissing, startRedis } from '../engines/redis.ts';
import {
  ask,
  createTrouble,
  DISPATCHERS,
  disable,
  type Endpoint,
  FAULTS,
  type Fault,
  openEndpoint,
  people,
  untilDelivered,
} from './delivering.ts';
import { deliveryFaults } from './delivery-faults.ts';
import { summary } from './delivery-summary.ts';
import { endpointKinds, shouldReceive } from './endpoint-kinds.ts';
import { type FollowedRoles, startFollowedRoles } from './followed-roles.ts';
import { inPostgres, inRedis, type LosableQueue } from './lost-queue.ts';
import { happenedIn } from './visible-events.ts';
import { readLedger } from './webhook-ledger.ts';
import { startWriters } from './writers.ts';

/** Multiplies the number of faults. */
const ROUNDS = Number(process.env.CHAOS_ROUNDS ?? 1);
/** The maximum of callbacks between two faults. */
const ARRIVALS_MAX = 120;
const STILL_MS_MAX = 2_000;
/** Failures are retried soon, and become dead letters after three seconds. */
const SETTINGS = { WEBHOOK_RETRY_SCHEDULE: '0.1,0.2,0.3,0.4,0.5,0.6,0.7' };
/** Long enough for the claim of a dead dispatcher and an open circuit breaker to expire. */
const PATIENCE_MS = 150_000;
const TEST_MS = scaled(200_000 + ROUNDS * 60_000);

if (redisMissing !== undefined)
  process.stderr.write(`Webhooks are not tried with a queue in Redis: ${redisMissing}.\n`);

describe.concurrent(`every change arrives, signed, with one id and body, whatever is killed (TEST_SEED=${SEED})`, () => {
  test('with the queue in PostgreSQL', () => deliverThrough(inPostgres), TEST_MS);

  test.skipIf(redisMissing !== undefined)(
    'with the queue in Redis',
    async () => {
      await using redis = await startRedis();
      await deliverThrough(inRedis(redis));
    },
    TEST_MS,
  );
});

type Step = Fault | 'disabled' | 'enabled' | 'secret rotated';

const deliverThrough = async (queue: LosableQueue): Promise<void> => {
  const random = createRandom(SEED);
  await using receivers = new AsyncDisposableStack();
  const settings = { ...SETTINGS, ...queue.settings };
  await using roles = await startFollowedRoles({ query: 0, projector: 1, dispatcher: DISPATCHERS, settings });
  const { ada, bob, admin } = await people(roles);
  const article = await draftArticle(roles.gateway, ada);
  const endpoints: Endpoint[] = [];
  for (const [place, kind] of endpointKinds({ ada, bob, admin, article }).entries()) {
    const endpoint = await openEndpoint(roles, kind, createRandom(SEED + 2 + place));
    receivers.use(endpoint.receiver);
    endpoints.push(endpoint);
  }
  const trouble = createTrouble({ roles, queue, endpoints, random });
  const writers = startWriters({
    random: createRandom(SEED + 1),
    gateway: roles.gateway,
    authors: [ada, bob],
    article,
  });
  const owners = createOwners(roles, endpoints);
  const times: number[] = [];
  for (const step of stepsOf(random)) {
    await Promise.race([untilArrived(endpoints, 1 + random() * ARRIVALS_MAX), writers.failed]);
    if (step === 'disabled' || step === 'enabled' || step === 'secret rotated') await owners(step);
    else {
      times.push(Date.now());
      await trouble.make(step);
    }
  }
  await writers.end();
  await addComment(roles.gateway, ada, article);
  await Promise.all([roles.ready(), trouble.settled()]);
  await redrive(roles, endpoints);
  await untilDelivered(roles, PATIENCE_MS);
  await judge(roles, { endpoints, times, name: queue.name });
};

/** One pause comes first, so that it ends while others send; actions of owners are mixed in. */
const stepsOf = (random: () => number): readonly Step[] => {
  const rounds = Array.from({ length: ROUNDS }, (): readonly Step[] => {
    const faults = FAULTS.map((fault) => ({ fault, rank: random() }))
      .toSorted((one, other) => one.rank - other.rank)
      .map(({ fault }) => fault);
    const [third, twoThirds] = [Math.floor(faults.length / 3), Math.floor((2 * faults.length) / 3)];
    const [first, second, last] = [
      faults.slice(0, third),
      faults.slice(third, twoThirds),
      faults.slice(twoThirds),
    ];
    return [
      'dispatcher paused for longer than a run',
      ...first,
      'disabled',
      ...second,
      'secret rotated',
      'enabled',
      ...last,
    ];
  });
  return rounds.flat();
};

type OwnersStep = Exclude<Step, Fault>;

/** The actions of owners meanwhile. */
const createOwners = (roles: FollowedRoles, endpoints: readonly Endpoint[]) => {
  const disabled = new Map<Endpoint, { readonly from?: string }>();
  return async (step: OwnersStep): Promise<void> => {
    if (step === 'secret rotated') {
      for (const endpoint of endpoints) await ask(roles, endpoint, { type: 'RotateWebhookSecret' });
    } else if (step === 'disabled') {
      for (const endpoint of endpoints.filter(({ kind }) => kind.disabledAs)) {
        const from = await disable(roles, endpoint);
        disabled.set(endpoint, from === undefined ? {} : { from });
      }
    } else {
      for (const [endpoint, missed] of disabled) {
        await ask(roles, endpoint, { type: 'EnableWebhook' });
        await ask(roles, endpoint, { type: 'ReplayWebhook', ...missed });
      }
    }
  };
};

const deadOf = async (pool: Pool, { webhookId }: Endpoint): Promise<readonly string[]> =>
  (await readLedger(pool, webhookId)).filter(({ state }) => state === 'dead').map(({ id }) => id);

/**
 * Dead letters are deliveries that were refused every time. Their receiver now accepts them, and the owners
 * redrive them, which an open circuit breaker does not delay.
 */
const redrive = async (roles: FollowedRoles, endpoints: readonly Endpoint[]): Promise<void> => {
  for (const endpoint of endpoints) {
    const { refuses = () => false } = endpoint.kind.manner;
    expect((await deadOf(roles.side.pool, endpoint)).filter((id) => !refuses(id))).toEqual([]);
    endpoint.receiver.relent();
    await ask(roles, endpoint, { type: 'RedriveWebhook' });
  }
};

type Run = {
  readonly endpoints: readonly Endpoint[];
  readonly times: readonly number[];
  readonly name: string;
};

const judge = async ({ side }: FollowedRoles, { endpoints, times, name }: Run): Promise<void> => {
  const { identity } = side.eventLog;
  const all = await allEvents(side);
  const events = new Map<string, (typeof all)[number]>(all.map((event) => [event.id, event]));
  const happened = happenedIn(all, identity);
  const found = await Promise.all(
    endpoints.map(async ({ kind, receiver: { arrivals }, webhookId, secrets }) => {
      const { payload, ordered: isOrdered } = kind.asks;
      const expected = shouldReceive(kind, webhookId, happened);
      const ledger = await readLedger(side.pool, webhookId);
      const faults = deliveryFaults({
        webhookId,
        expected,
        events,
        identity,
        arrivals,
        ledger,
        secrets,
        payload,
        isOrdered,
      });
      return { kind, expected, arrivals, ledger, faults };
    }),
  );
  console.table({ [name]: summary(found, { events, times }) });
  const isTried = found.filter(({ expected }) => expected.length >= EXPECTED_MIN * ROUNDS);
  expect(isTried.map(({ kind }) => kind.name)).toEqual(endpoints.map(({ kind }) => kind.name));
  expect(
    found.filter(({ faults }) => faults.length > 0).map(({ kind, faults }) => ({ name: kind.name, faults })),
  ).toEqual([]);
};

/** With fewer the test would prove little. */
const EXPECTED_MIN = 10;

/**
 * Faults hit both while something is sent and while nothing is: if nothing is sent, the wait for the next
 * delivery is short.
 */
const untilArrived = async (endpoints: readonly Endpoint[], more: number): Promise<void> => {
  const arrived = () => endpoints.reduce((sum, { receiver }) => sum + receiver.arrivals.length, 0);
  const [target, latestMs] = [arrived() + more, performance.now() + STILL_MS_MAX];
  await until(() => arrived() >= target || performance.now() > latestMs, Boolean);
};
