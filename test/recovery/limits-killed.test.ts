import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { gatewayKey } from '#edge/command-gateway/assertion.ts';
import { createHttpGateway } from '#edge/command-gateway/http-gateway.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { Kind, Row } from '#kernel/registry/registry.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { CommandUnavailable } from '#shared/command-gateway/command-gateway.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { openPeople } from '../../testing/http/people.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { restSessionOver } from '../../testing/http/rest-session.ts';
import { until } from '../../testing/until.ts';
import { by, registerUser, system } from '../engines/command-side.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase } from '../engines/database.ts';
import { operate, startInstallation } from '../engines/installation.ts';
import { LOG_ENGINES } from '../engines/log-engines.ts';
import { startRole } from '../engines/role-process.ts';
import { lending } from '../toy/lending.ts';

const ROUNDS = 2;
const REQUESTS = 40;
const MEMBERS = 3;
const BOOKS = 12;
const OPEN_MAX = 3;

/** All loans, according to the log; without keys, because nothing of them is personal. */
const loansIn = async (log: EventLog): Promise<readonly Row[]> => {
  const { evolve, initial } = deciderOf(lending, lending.kinds.loan as Kind);
  const states = new Map<string, AggregateState>();
  const head = await log.head();
  for await (const page of log.follow(START, new AbortController().signal)) {
    for (const { stream, type, data } of page)
      if (stream.startsWith('loan-'))
        states.set(stream, evolve(states.get(stream) ?? initial, { type, data }));
    if ((page.at(-1)?.position ?? 0) >= head) break;
  }
  return [...states.values()].flatMap((state) =>
    state.status === 'present' && state.fields.status === 'open' ? [state.fields] : [],
  );
};

const mostOf = (loans: readonly Row[], field: string): number =>
  Math.max(0, ...[...Map.groupBy(loans, (loan) => loan[field]).values()].map(({ length }) => length));

describe.each(LOG_ENGINES)('limits on %s', (_, startLog) => {
  test('hold, and leak no place, when the command role is killed during many requests', async () => {
    await using database = await createDatabase();
    await using folder = await temporaryDataDir();
    await using engine = await startLog();
    const MASTER_KEY = randomBytes(32).toString('base64');
    const place = engine.url === undefined ? {} : { EVENT_LOG_URL: engine.url };
    const settings = { DATABASE_URL: database.url, DATA_DIR: folder.path, MASTER_KEY, ...place };
    const start = async () => {
      const role = startRole('test/toy/lending-main.ts command', settings);
      const { url } = await role.logged('Listening for commands of other roles.');
      const gateway = createHttpGateway({
        clock: REAL_TIME,
        ...{
          urls: [String(url)],
          key: gatewayKey(parseMasterKey(MASTER_KEY)),
          issuer: 'test',
          timeoutMs: 60_000,
        },
      });
      const give = async (command: object): Promise<number> =>
        (await gateway.send(command as never, by(system))).id;
      return { role, gateway, give };
    };
    let count = 0;
    const newCode = () => {
      count += 1;
      return `B-${count}`;
    };
    const members: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { role, gateway, give } = await start();
      await using _ = role;
      for (let each = 0; round === 0 && each < MEMBERS; each += 1)
        members.push(await registerUser(gateway, { role: 'member' as never }));
      const books = await Promise.all(
        Array.from({ length: BOOKS }, () => give({ type: 'BuyBook', code: newCode(), shelf: null })),
      );
      let ended = 0;
      const asked = Array.from({ length: REQUESTS }, async (_each, index) => {
        try {
          const loanId = await give({
            type: 'LendLoan',
            borrowerId: members[index % MEMBERS],
            bookId: books[index % BOOKS],
          });
          if (index % 2 === 0) await give({ type: 'ReturnLoan', loanId });
        } catch (error) {
          if (!(error instanceof Rejection || error instanceof CommandUnavailable)) throw error;
        } finally {
          ended += 1;
        }
      });
      await until(
        () => ended,
        (all) => all >= MEMBERS * (round + 1),
      );
      await role.kill('SIGKILL');
      await Promise.all(asked);
    }

    const { role, give } = await start();
    await using _role = role;
    await using log = await openEventLog({ url: engine.url ?? database.url, clock: REAL_TIME });
    const left = await loansIn(log);
    expect(
      [mostOf(left, 'borrower'), mostOf(left, 'book')].map(
        (most, index) => most <= (index === 0 ? OPEN_MAX : 1),
      ),
    ).toEqual([true, true]);
    await Promise.all(left.map(({ id }) => give({ type: 'ReturnLoan', loanId: id })));
    // Abandoned claims are free, and no others.
    for (const borrowerId of members) {
      const bookId = () => give({ type: 'BuyBook', code: newCode(), shelf: null });
      const isFull = async () => {
        try {
          await give({ type: 'LendLoan', borrowerId, bookId: await bookId() });
          return false;
        } catch (error) {
          if (!(error instanceof Rejection)) throw error;
          return error.code === ('loan_open_full' as string);
        }
      };
      await until(isFull, (is) => is);
      expect((await loansIn(log)).filter(({ borrower }) => borrower === borrowerId)).toHaveLength(OPEN_MAX);
    }
    await role.kill('SIGTERM');

    await using installation = await startInstallation({
      ownProcess: true,
      settings,
      of: { domain: lending, main: 'test/toy/lending-main.ts' },
    });
    const people = await openPeople(installation);
    const session = restSessionOver(restClientOf(installation));
    await session.write('POST', '/books', {
      token: people.administrator.token,
      body: { code: 'The last one' },
    });
    expect(await operate(['audit', 'verify'], installation.settings, lending)).toContain('Proven');
  });
});
