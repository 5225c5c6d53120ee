// Over 200 lines, because it is one thing: which read replica serves a read, and what happens when it lags
// or fails.

import type { Position } from '#kernel/base/brands.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import { START } from '#shared/event-log/event-log.ts';
import { Counter, Gauge, type Registry } from '#shared/prometheus.ts';
import { readReached } from '#shared/read-model/read-position.ts';
import { readFailureOf } from '../rows/statement.ts';
import { createLag, type Lag } from './lag.ts';
import { openReplica, type Replica } from './replica.ts';
import type { ReplicaOptions, Replicas, Spread } from './replicas.ts';

/** Most commits are replayed within milliseconds; if not, the primary is faster. */
const REPLAY_WAIT_MS = 50;
const LOOK_EVERY_MS = 250;

type Member = { readonly replica: Replica; readonly lag: Lag; isIn: boolean; gone: AbortController };

/**
 * A read first asks the primary for the position of the read model, and uses a replica that has reached it.
 * So no answer is older than one that any caller has had before, at any process. A `Consistency-Token`, which
 * waits for the primary, needs nothing else.
 */
export const spreadOverReplicas = ({
  urls,
  pool,
  eventLog,
  metrics,
  log,
  clock,
}: ReplicaOptions): Replicas => {
  const members = urls.map((url): Member => {
    return {
      replica: openReplica({ url, eventLog, metrics, clock }),
      lag: createLag(clock.elapsedMs),
      isIn: false,
      gone: new AbortController(),
    };
  });
  const counted = observe(members, metrics);
  const positionNow = coalesce<null, Position>(
    async () => new Map([[null, (await readReached(pool, eventLog)) ?? START]]),
  );
  const closed = new AbortController();
  const { watch, choose, leaveOut } = createSelection({ members, positionNow, log });
  const watching = members.map(async (member) => {
    while (!closed.signal.aborted) {
      await watch(member);
      await clock.sleep(LOOK_EVERY_MS, closed.signal);
    }
  });

  const spreadOf = <Reads>(onPrimary: Reads, onReplicas: ReadonlyMap<Member, Reads>): Spread<Reads> => ({
    of: (part) =>
      spreadOf(part(onPrimary), new Map([...onReplicas].map(([member, reads]) => [member, part(reads)]))),
    async read(work) {
      const member = await choose();
      const reads = member && onReplicas.get(member);
      if (member !== undefined && reads !== undefined) {
        try {
          const answer = await unlessGone(member, work(reads));
          counted.inc({ server: member.replica.name });
          return answer;
        } catch (error) {
          if (!isTrouble(error)) throw error;
          if (!isConflict(error)) leaveOut(member, error);
        }
      }
      counted.inc({ server: 'primary' });
      return work(onPrimary);
    },
  });

  return {
    spread: (make) =>
      spreadOf(make({}), new Map(members.map((member) => [member, make(member.replica.pools)]))),
    async [Symbol.asyncDispose]() {
      closed.abort();
      await Promise.all(watching);
      await Promise.all(members.map(({ replica }) => replica[Symbol.asyncDispose]()));
    },
  };
};

type Selection = {
  /** Includes or excludes the replica, by the position it has replayed. */
  watch(member: Member): Promise<void>;
  /** A replica that has everything the primary has; undefined means the primary. */
  choose(): Promise<Member | undefined>;
  leaveOut(member: Member, err: unknown): void;
};

type SelectionOptions = Pick<ReplicaOptions, 'log'> & {
  readonly members: readonly Member[];
  readonly positionNow: (key: null) => Promise<Position | undefined>;
};

const createSelection = ({ members, positionNow, log }: SelectionOptions): Selection => {
  let turn = 0;
  const leaveOut = (member: Member, err: unknown): void => {
    if (member.isIn)
      log.warn(
        { err, replica: member.replica.name },
        'A read replica serves no reads until it has caught up.',
      );
    member.isIn = false;
    member.gone.abort();
  };
  const readmit = (member: Member): void => {
    if (member.isIn) return;
    log.info({ replica: member.replica.name }, 'A read replica serves reads.');
    member.gone = new AbortController();
    member.isIn = true;
  };
  return {
    async watch(member) {
      try {
        const position = (await positionNow(null)) ?? START;
        member.lag.primaryHas(position);
        // Also while nobody writes: the last position says nothing about whether the server is up, and still
        // a replica.
        member.lag.replicaHas(await member.replica.look());
        if (!(await member.replica.reaches(position, REPLAY_WAIT_MS)))
          return leaveOut(member, new Error(LAGS));
        member.lag.replicaHas(position);
        readmit(member);
      } catch (error) {
        leaveOut(member, error);
      }
    },
    async choose() {
      const there = members.filter(({ isIn }) => isIn);
      turn += 1;
      const member = there[turn % there.length];
      if (member === undefined) return undefined;
      try {
        const position = (await positionNow(null)) ?? START;
        if (await member.replica.reaches(position, REPLAY_WAIT_MS)) return member;
        leaveOut(member, new Error(LAGS));
      } catch (error) {
        leaveOut(member, error);
      }
      return undefined;
    },
    leaveOut,
  };
};

const LAGS = 'it has not replayed the position of the primary';

/** Watching detects an unresponsive server long before its statements time out. */
const unlessGone = async <Answer>({ gone: { signal } }: Member, answer: Promise<Answer>): Promise<Answer> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () => reject(new HttpProblem('unavailable'));
  signal.addEventListener('abort', leave);
  try {
    return await Promise.race([answer, promise]);
  } finally {
    signal.removeEventListener('abort', leave);
    answer.catch(() => {});
  }
};

/** True if the failure is the server’s, so that the primary may succeed. */
const isTrouble = (error: unknown): boolean => {
  const failure = readFailureOf(error);
  return failure instanceof HttpProblem && failure.code === 'unavailable';
};

/** Replay removed rows that the statement needed; the server itself is healthy. */
const isConflict = (error: unknown): boolean =>
  isOfCode(error) || (error instanceof Error && isOfCode(error.cause));
const isOfCode = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === CONFLICT;
const CONFLICT = '40001';

const observe = (members: readonly Member[], metrics: Registry): Counter<'server'> => {
  const shared = { labelNames: ['replica'], registers: [metrics] };
  new Gauge({
    ...shared,
    name: 'annals_read_replica_lag_seconds',
    help: 'Seconds since the primary reached the first position that a read replica has not replayed.',
    aggregator: 'max',
    collect() {
      for (const { replica, lag } of members) this.set({ replica: replica.name }, lag.seconds());
    },
  });
  new Gauge({
    ...shared,
    name: 'annals_read_replica_serving',
    help: '1 while a read replica serves reads, 0 while it lags or is unavailable.',
    aggregator: 'min',
    collect() {
      for (const { replica, isIn } of members) this.set({ replica: replica.name }, isIn ? 1 : 0);
    },
  });
  return new Counter({
    name: 'annals_read_replica_reads_total',
    help: 'Reads of the read model by the server that answered: a replica, or the primary instead.',
    labelNames: ['server'],
    registers: [metrics],
  });
};
