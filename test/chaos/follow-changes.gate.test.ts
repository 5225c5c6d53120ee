import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseCursor } from '#kernel/base/cursor.ts';
import { scaled } from '../../testing/load.ts';
import { createRandom, shuffled } from '../../testing/random.ts';
import { SEED } from '../../testing/seed.ts';
import { until } from '../../testing/until.ts';
import { addComment, allEvents, draftArticle, registerUser } from '../engines/command-side.ts';
import { startKafka, type TestKafka } from '../engines/kafka.ts';
import { kafkaMissing } from '../engines/kafka-server.ts';
import { type FollowedRoles, startFollowedRoles } from './followed-roles.ts';
import { expectedFor, kindsOf, startKind } from './follower-kinds.ts';
import { faultsOf } from './sequence.ts';
import { happenedIn } from './visible-events.ts';
import { startWriters } from './writers.ts';

const PROCESSES = { query: 2, projector: 2 };
const KILLS = ['query', 'query', 'query', 'query', 'projector', 'projector', 'projector'] as const;
/** The number of followers of each kind; those of one kind share rendered messages. */
const COPIES = 2;
/** The maximum of events between two kills. */
const EVENTS_MAX = 120;
const TOPIC = 'changes';
const PATIENCE_MS = 60_000;
const TEST_MS = scaled(150_000);

if (kafkaMissing !== undefined)
  process.stderr.write(`Subscribers are not tested with Kafka: ${kafkaMissing}.\n`);

test(
  `on PostgreSQL alone, every subscriber receives every event, in order, while processes are killed (TEST_SEED=${SEED})`,
  async () => {
    await followThrough(KILLS);
  },
  TEST_MS,
);

describe.skipIf(kafkaMissing !== undefined)('with Kafka', () => {
  let kafka: TestKafka;
  beforeAll(async () => {
    kafka = await startKafka();
  }, TEST_MS);
  afterAll(() => kafka?.[Symbol.asyncDispose]());

  test(
    `every subscriber receives every event, in order, while processes and the broker are killed (TEST_SEED=${SEED})`,
    async () => {
      await followThrough([...KILLS, 'broker'], kafka);
    },
    TEST_MS,
  );
});

type Victim = (typeof KILLS)[number] | 'broker';

const followThrough = async (victims: readonly Victim[], kafka?: TestKafka): Promise<void> => {
  const random = createRandom(SEED);
  const settings = { STREAM_HEARTBEAT_MS: '250', ...(kafka && { CHANGE_STREAM_URL: kafka.url(TOPIC) }) };
  await using roles = await startFollowedRoles({ ...PROCESSES, settings });
  const from = await roles.cursor();
  const [ada, bob] = [await registerUser(roles.gateway), await registerUser(roles.gateway)];
  const article = await draftArticle(roles.gateway, ada);
  const writers = startWriters({
    random: createRandom(SEED + 1),
    gateway: roles.gateway,
    authors: [ada, bob],
    article,
  });
  const followed = kindsOf({ ada, bob, article }).flatMap((kind) =>
    Array.from({ length: COPIES }, () => kind),
  );
  const followers = followed.map((kind, place) =>
    startKind(kind, { roles, from, random: createRandom(SEED + 2 + place) }),
  );
  let restarted: Promise<void> | undefined;
  for (const victim of shuffled(random, victims)) {
    await Promise.race([untilWritten(roles, 1 + random() * EVENTS_MAX), writers.failed]);
    // A broker takes long to start, and processes start without one.
    if (victim === 'broker') restarted = kafka?.kill().then(() => kafka.start());
    else await roles.replace(victim, Math.floor(random() * PROCESSES[victim]), 'SIGKILL');
  }
  await writers.end();
  await addComment(roles.gateway, ada, article);
  await Promise.all([roles.ready(), restarted]);

  const { eventLog } = roles.side;
  const positionAtCursor = (cursor: string) => parseCursor(eventLog.identity, cursor);
  const happened = happenedIn(await allEvents(roles.side), eventLog.identity).filter(
    ({ position }) => position > positionAtCursor(from),
  );
  const end = happened.at(-1)?.position ?? 0;
  for (const follower of followers) follower.stay();
  const behind = () =>
    followers
      .filter((each) => !each.isOver() && positionAtCursor(each.lastCursor()) < end)
      .map((each) => each.lastCursor());
  await until(behind, (left) => left.length === 0, PATIENCE_MS);
  await Promise.all(followers.map((follower) => follower.end()));
  const found = followed.map((kind, place) => {
    const [expected, received] = [expectedFor(kind, happened), followers[place]?.received() ?? []];
    return {
      by: kind.viewer.role,
      asks: kind.asks,
      isTried: expected.length > EXPECTED_MIN,
      faults: faultsOf(expected, received),
    };
  });
  const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
  console.log(
    `${happened.length} changes and ${victims.length} kills; ${followers.length} subscribers received ` +
      `${total(followers.map(({ received }) => received().length))} messages in ${total(followers.map(({ visits }) => visits()))} visits`,
  );
  if (kafka) await untilPublished(kafka, happened.length);
  expect(found.filter(({ isTried, faults }) => !isTried || faults.length > 0)).toEqual([]);
};

/** With fewer the test would prove little. */
const EXPECTED_MIN = 5;

/** Otherwise all messages might have come from the log. */
const untilPublished = async (kafka: TestKafka, changes: number): Promise<void> => {
  const messages = () =>
    kafka.admin(async (admin) => Number((await admin.fetchTopicOffsets(TOPIC))[0]?.high));
  await until(messages, (count) => count >= changes, PATIENCE_MS);
};

const untilWritten = async ({ side: { eventLog } }: FollowedRoles, events: number): Promise<void> => {
  const target = (await eventLog.head()) + events;
  await until(
    () => eventLog.head(),
    (head) => head >= target,
    PATIENCE_MS,
  );
};
