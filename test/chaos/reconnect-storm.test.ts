import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { allEvents, draftArticle, registerUser } from '../engines/command-side.ts';
import { type Crowd, gatherCrowd, type Member } from './crowd.ts';
import { type FollowedRoles, startFollowedRoles } from './followed-roles.ts';
import { faultsOf } from './sequence.ts';
import { happenedIn } from './visible-events.ts';

/** The intended maximum of a process can be tested by hand: STREAMS=10000. */
const SIZE_MAX = Number(process.env.STREAMS ?? 4_000);
/** The default limit per user. */
const PER_USER = 100;
const PATIENCE_MS = 60_000;
/** The open files of a process beside the connections. */
const OTHER_FILES = 500;

const filesMax = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }));
const size = Number.isNaN(filesMax) ? SIZE_MAX : Math.min(SIZE_MAX, filesMax - OTHER_FILES);

test(
  `${size} idle streams of one process reconnect at once after a restart, and each gets every event once`,
  async () => {
    const settings = { CONNECTIONS_MAX: String(2 * size), STREAM_HEARTBEAT_MS: '1000' };
    await using roles = await startFollowedRoles({ projector: 1, query: 1, settings });
    const author = await registerUser(roles.gateway);
    using crowd = gatherCrowd({
      size,
      tokens: await tokensFor(roles, Math.ceil(size / PER_USER)),
      query: 'types=article.published',
    });
    const [memoryBefore, startedMs] = [await memoryOf(roles), performance.now()];
    await crowd.comeTo(await urlOf(roles));
    await untilAll(crowd, ({ cursor }) => cursor !== '');
    const [memoryAfter, connectedMs] = [await memoryOf(roles), performance.now()];

    // A clean exit, in time.
    expect(await roles.replace('query', 0, 'SIGTERM')).toBe(0);
    await untilAll(crowd, ({ socket }) => socket === undefined);
    // One event happens while all are disconnected, and two afterwards.
    await draftArticle(roles.gateway, author);
    await roles.ready();
    const returningMs = performance.now();
    await crowd.comeTo(await urlOf(roles));
    const returnedMs = performance.now();
    for (let received = 2; received <= 3; received += 1) {
      await draftArticle(roles.gateway, author);
      await untilAll(crowd, (member) => member.received.length >= received);
    }

    const happened = happenedIn(await allEvents(roles.side), roles.side.eventLog.identity);
    const expected = happened.filter(({ type }) => type === 'article.published').map(({ cursor }) => cursor);
    expect(expected).toHaveLength(3);
    expect(
      crowd.members.map(({ received }) => faultsOf(expected, received)).filter((faults) => faults.length > 0),
    ).toEqual([]);
    const seconds = (ms: number) => (ms / 1_000).toFixed(1);
    console.log(
      `${size} streams came in ${seconds(connectedMs - startedMs)} s and again in ${seconds(returnedMs - returningMs)} s; resident memory was ` +
        `${memoryBefore} MiB before, ${memoryAfter} MiB with them, ${await memoryOf(roles)} MiB after the storm`,
    );
  },
  scaled(150_000),
);

const tokensFor = (roles: FollowedRoles, users: number): Promise<readonly string[]> =>
  Promise.all(
    Array.from({ length: users }, async (_, user) => {
      const { authorization = '' } = await roles.authorization({ role: 'reader', userId: 1_000_000 + user });
      return authorization.replace('Bearer ', '');
    }),
  );

const urlOf = async (roles: FollowedRoles): Promise<string> =>
  String((await roles.query(0).logged('Annals is ready.')).url);

const untilAll = async ({ members }: Crowd, isSo: (member: Member) => boolean): Promise<void> => {
  const missing = () => members.reduce((count, member) => (isSo(member) ? count : count + 1), 0);
  await until(missing, (count) => count === 0, PATIENCE_MS);
};

/** From Linux. */
const memoryOf = async (roles: FollowedRoles): Promise<string> => {
  const { pid } = await roles.query(0).logged('Annals is ready.');
  try {
    const [, kilobytes = '?'] = /^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return (Number(kilobytes) / 1_024).toFixed(0);
  } catch {
    return 'unknown';
  }
};
