// Over 200 lines, because all cases share the command side that is set up here.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Position, StreamName, UserId } from '#kernel/base/brands.ts';
import type { Command } from '#kernel/decide/decide.ts';
import { followingOf } from '#kernel/decide/reactions.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import { callAt } from '../../test/engines/call-line.ts';
import {
  allEvents,
  by,
  type CommandDatabase,
  type CommandSide,
  createCommandDatabase,
  Died,
  registerUser,
  system,
} from '../../test/engines/command-side.ts';
import { budgets } from '../../test/toy/budgets.ts';
import { until } from '../../testing/until.ts';
import { noteReactions } from './note-reactions.ts';
import { startRetrying } from './retry-parked.ts';

let database: CommandDatabase;
let side: CommandSide;
let employee: UserId;
beforeAll(async () => {
  database = await createCommandDatabase();
  side = await database.open({ domain: budgets });
  employee = await registerUser(side, { role: 'employee' as never });
});
afterAll(async () => {
  await side?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

const give = async (command: Command, to: CommandSide = side): Promise<number> =>
  (await to.send(command as never, by(system))).id;
const found = () => give({ type: 'FoundTeam', name: 'Engines' });
const make = (teamId: number, employeeId: number = employee) =>
  give({ type: 'MakeClaim', teamId, employeeId, amount: 7, purpose: 'Coal' });
const submitted = async (teamId: number) => {
  const claimId = await make(teamId);
  await give({ type: 'SubmitClaim', claimId });
  return claimId;
};
const namesOf = async (stream: string) =>
  (await Array.fromAsync(side.eventLog.read(stream as StreamName)))
    .flat()
    .map(({ type }) => type.split('.')[1]);
const untilNames = (stream: string, ...names: readonly string[]) =>
  until(
    () => namesOf(stream),
    (found) => found.length >= names.length,
  ).then((found) => expect(found).toEqual(names));
const payments = async (): Promise<readonly DecodedEvent[]> =>
  (await allEvents(side)).filter(({ type }) => (type as string) === 'payment.opened');
/** Waits until all events so far have had their consequences. */
const settled = async (of: CommandSide = side) => {
  const head = await of.eventLog.head();
  await until(
    async () => {
      const { rows } = await of.pool.query<{ isDone: boolean }>(
        `select position >= $1 and not exists (select from process_manager.task where attempts = 0) as "isDone"
         from public.follower_checkpoint where follower = 'reactions'`,
        [head],
      );
      return rows[0]?.isDone;
    },
    (isDone) => isDone === true,
  );
};

test('aggregates react to the events of their references’ targets, if the condition holds, with that event as cause', async () => {
  const [closing, other] = [await found(), await found()];
  const [open, sent, approved, elsewhere, gone] = await Promise.all([
    make(closing),
    submitted(closing),
    submitted(other),
    make(other),
    make(closing),
  ]);
  await give({ type: 'ApproveClaim', claimId: approved });
  await give({ type: 'MoveClaim', claimId: approved, teamId: closing });
  await give({ type: 'DeleteClaim', claimId: gone });
  await give({ type: 'CloseTeam', teamId: closing });
  await untilNames(`claim-${open}`, 'made', 'withdrawn');
  await untilNames(`claim-${sent}`, 'made', 'submitted', 'withdrawn');
  await settled();
  expect(await namesOf(`claim-${approved}`)).toEqual(['made', 'submitted', 'approved', 'moved']);
  expect([await namesOf(`claim-${elsewhere}`), await namesOf(`claim-${gone}`)]).toEqual([
    ['made'],
    ['made', 'deleted'],
  ]);
  const events = await allEvents(side);
  const eventOf = (stream: string, type: string) =>
    events.find((event) => event.stream === stream && (event.type as string) === type);
  const closed = eventOf(`team-${closing}`, 'team.closed');
  expect(eventOf(`claim-${open}`, 'claim.withdrawn')?.metadata).toMatchObject({
    actor: 'system:process-manager',
    causation: closed?.id,
    correlation: closed?.metadata.correlation,
  });
});

test('a reference that changed counts with its present target', async () => {
  const [left, joined] = [await found(), await found()];
  const claimId = await make(left);
  await give({ type: 'MoveClaim', claimId, teamId: joined });
  await give({ type: 'CloseTeam', teamId: left });
  await settled();
  expect(await namesOf(`claim-${claimId}`)).toEqual(['made', 'moved']);
  await give({ type: 'CloseTeam', teamId: joined });
  await untilNames(`claim-${claimId}`, 'made', 'moved', 'withdrawn');
});

test('a new reference to an ended aggregate reacts to the end, however late', async () => {
  const teamId = await found();
  await give({ type: 'DissolveTeam', teamId });
  await settled();
  await untilNames(`claim-${await make(teamId)}`, 'made', 'withdrawn');
});

test('memberships and reactions work side by side', async () => {
  const leaving = await registerUser(side, { role: 'employee' as never });
  const claimId = await make(await found(), leaving);
  await side.send({ type: 'DeleteUser', userId: leaving }, by(system));
  await untilNames(`claim-${claimId}`, 'made', 'deleted');
});

test('code sends commands to an existing aggregate and to a new one, each once', async () => {
  const teamId = await found();
  const before = (await payments()).length;
  await give({ type: 'ApproveClaim', claimId: await submitted(teamId) });
  await untilNames(`team-${teamId}`, 'founded', 'booked');
  await settled();
  expect((await payments()).slice(before).map(({ data }) => data)).toMatchObject([
    { payeeId: employee, amount: 7 },
  ]);
});

/** In its own environment, where processes die after some appends. */
test('a process that dies anywhere skips nothing, and does nothing twice', async () => {
  await using alone = await createCommandDatabase();
  let dying = 12;
  const mortal = await alone.open({
    wrapLog: (log) => ({
      ...log,
      async append(stream, expected, events) {
        const isReaction = events.some(({ metadata }) => metadata.actor === 'system:process-manager');
        // Counted immediately, because some appends run in parallel: three withdrawals alone cause six
        // deaths.
        const death = isReaction && dying > 0 ? dying-- : 0;
        if (death > 0 && death % 2 === 0) throw new Died();
        const appended = await log.append(stream, expected, events);
        if (death > 0) throw new Died();
        return appended;
      },
    }),
    domain: budgets,
  });
  const by = await registerUser(mortal, { role: 'employee' as never });
  const teamId = await give({ type: 'FoundTeam', name: 'Engines' }, mortal);
  const claims = await Promise.all(
    Array.from({ length: 6 }, async (_, each) => {
      const claimId = await give(
        { type: 'MakeClaim', teamId, employeeId: by, amount: 1, purpose: 'x' },
        mortal,
      );
      await give({ type: 'SubmitClaim', claimId }, mortal);
      if (each < 3) await give({ type: 'ApproveClaim', claimId }, mortal);
      return claimId;
    }),
  );
  await give({ type: 'CloseTeam', teamId }, mortal);
  await until(
    async () => dying,
    (left) => left < 8,
  );
  await mortal[Symbol.asyncDispose]();
  dying = 0;
  await using next = await alone.open({ domain: budgets });
  await give({ type: 'ReopenTeam', teamId }, next);
  await until(
    // Tasks that were tried too early, before the team was open again, must not delay the test.
    () => next.pool.query('update process_manager.task set next_at = null'),
    ({ rowCount }) => rowCount === 0,
  );
  await settled(next);
  const events = await allEvents(next);
  const count = (type: string) => events.filter((event) => (event.type as string) === type).length;
  expect({
    opened: count('payment.opened'),
    withdrawn: count('claim.withdrawn'),
    claims: claims.length,
  }).toEqual({
    opened: 3,
    withdrawn: 3,
    claims: 6,
  });
});

const annals = (...args: readonly string[]) =>
  callAt({ domain: budgets, environment: database.settings }, args);
const untilParked = (stream: string, isParked: boolean) =>
  until(
    () => annals('process-manager', 'parked'),
    ({ output }) => output.includes(stream) === isParked,
  );

test('a refused command parks its aggregate, whose later tasks wait, and delays nothing else', async () => {
  const [teamId, joined, unrelated] = [await found(), await found(), await found()];
  await give({ type: 'CloseTeam', teamId });
  const refused = await submitted(teamId);
  await give({ type: 'ApproveClaim', claimId: refused });
  const { output } = await untilParked(`claim-${refused}`, true);
  expect(output).toMatch(new RegExp(`react \\(approved\\)  claim-${refused} .*team`));
  expect(await side.metrics.metrics()).toMatch(/^annals_process_manager_parked 1$/m);
  await give({ type: 'MoveClaim', claimId: refused, teamId: joined });
  await give({ type: 'DissolveTeam', teamId: joined });
  await give({ type: 'ApproveClaim', claimId: await submitted(unrelated) });
  await untilNames(`team-${unrelated}`, 'founded', 'booked');
  // The end of its team waits for earlier tasks.
  expect(await namesOf(`claim-${refused}`)).toEqual(['made', 'submitted', 'approved', 'moved']);
  expect(await annals('process-manager', 'skip', `claim-${refused}`)).toMatchObject({ exit: 0 });
  await untilNames(`claim-${refused}`, 'made', 'submitted', 'approved', 'moved', 'withdrawn');
  expect((await annals('process-manager', 'parked')).output).toContain('skipped');
  await give({ type: 'ReopenTeam', teamId });
  expect(await annals('process-manager', 'retry', `claim-${refused}`)).toMatchObject({ exit: 0 });
  await untilParked(`claim-${refused}`, false);
  await untilNames(`team-${teamId}`, 'founded', 'closed', 'reopened', 'booked');
});

test('a declaration with further reactions records existing references, and ignores earlier events', async () => {
  const { claim } = budgets.kinds;
  if (!claim) throw new Error('There is no claim');
  const lesser = {
    ...budgets,
    kinds: { ...budgets.kinds, claim: { ...claim, reactions: {}, react: { approved: () => [] } } },
  };
  await using alone = await createCommandDatabase();
  let [closed, closing, early, late] = [0, 0, 0, 0];
  {
    await using before = await alone.open({ domain: lesser });
    const by = await registerUser(before, { role: 'employee' as never });
    [closed, closing] = [
      await give({ type: 'FoundTeam', name: 'One' }, before),
      await give({ type: 'FoundTeam', name: 'Two' }, before),
    ];
    const form = { type: 'MakeClaim', employeeId: by, amount: 1, purpose: 'x' };
    [early, late] = [
      await give({ ...form, teamId: closed }, before),
      await give({ ...form, teamId: closing }, before),
    ];
    await give({ type: 'CloseTeam', teamId: closed }, before);
    await settled(before);
  }
  await using after = await alone.open({ domain: budgets });
  await give({ type: 'CloseTeam', teamId: closing }, after);
  const typesIn = async (claimId: number) =>
    (await Array.fromAsync(after.eventLog.read(`claim-${claimId}` as StreamName)))
      .flat()
      .map(({ type }) => type);
  await until(
    () => typesIn(late),
    (types) => types.includes('claim.withdrawn'),
  );
  await settled(after);
  expect(await typesIn(early)).toEqual(['claim.made']);
});

const { claim: CLAIM } = budgets.kinds;
if (!CLAIM) throw new Error('There is no claim');
const still: Domain = {
  ...budgets,
  kinds: { ...budgets.kinds, claim: { ...CLAIM, reactions: {}, react: {} } },
};

test.each<[string, Partial<typeof CLAIM>]>([
  ['a reaction by a reference', { reactions: {} }],
  ['code', { react: {} }],
])('a process of the former release, without %s, removes none of its tasks', async (_, lacking) => {
  await using alone = await createCommandDatabase();
  await using former = await alone.open({
    domain: {
      ...budgets,
      kinds: { ...budgets.kinds, claim: { ...CLAIM, ...lacking } },
    },
  });
  const by = await registerUser(former, { role: 'employee' as never });
  const teamId = await give({ type: 'FoundTeam', name: 'One' }, former);
  await settled(former);
  await using _next = await alone.open({ domain: budgets });
  const claims = await Promise.all(
    [1, 2].map(() => give({ type: 'MakeClaim', teamId, employeeId: by, amount: 1, purpose: 'x' }, former)),
  );
  const [withdrawn = 0, approved = 0] = claims;
  await give({ type: 'SubmitClaim', claimId: approved }, former);
  await give({ type: 'ApproveClaim', claimId: approved }, former);
  const typesOf = async (stream: string) =>
    (await Array.fromAsync(former.eventLog.read(stream as StreamName)))
      .flat()
      .map(({ type }) => type as string);
  await until(
    () => typesOf(`team-${teamId}`),
    (types) => types.includes('team.booked'),
  );
  await give({ type: 'CloseTeam', teamId }, former);
  await until(
    () => typesOf(`claim-${withdrawn}`),
    (types) => types.includes('claim.withdrawn'),
  );
});

test('code that returns its commands in another order after a crash sends each once', async () => {
  const paying = (...amounts: readonly number[]): Domain => {
    const react: typeof CLAIM.react = {
      approved: ({ state }) =>
        amounts.map((amount) => ({
          ...{ kind: 'payment', command: 'open', id: undefined, when: undefined },
          form: { payeeId: state.employee, amount },
        })),
    };
    return { ...budgets, kinds: { ...budgets.kinds, claim: { ...CLAIM, reactions: {}, react } } };
  };
  await using alone = await createCommandDatabase();
  const opened = async (of: CommandSide) =>
    (await allEvents(of)).filter(({ type }) => (type as string) === 'payment.opened');
  {
    let payments = 0;
    await using mortal = await alone.open({
      wrapLog: (log) => ({
        ...log,
        async append(stream, expected, events) {
          if (stream.startsWith('payment-') && payments++ > 0) throw new Died();
          return log.append(stream, expected, events);
        },
      }),
      domain: paying(7, 8),
    });
    const by = await registerUser(mortal, { role: 'employee' as never });
    const teamId = await give({ type: 'FoundTeam', name: 'One' }, mortal);
    const claimId = await give(
      { type: 'MakeClaim', teamId, employeeId: by, amount: 1, purpose: 'x' },
      mortal,
    );
    await give({ type: 'SubmitClaim', claimId }, mortal);
    await give({ type: 'ApproveClaim', claimId }, mortal);
    await until(
      () => opened(mortal),
      (all) => all.length === 1 && payments > 1,
    );
  }
  await using next = await alone.open({ domain: paying(8, 7) });
  await until(
    () => next.pool.query('update process_manager.task set next_at = null'),
    ({ rowCount }) => rowCount === 0,
  );
  expect((await opened(next)).map(({ data }) => (data as { amount?: number }).amount)).toEqual([7, 8]);
});

test('reactions that were removed for a release ignore the events in between', async () => {
  await using alone = await createCommandDatabase();
  const on = async <Result>(domain: Domain, work: (of: CommandSide) => Promise<Result>): Promise<Result> => {
    await using of = await alone.open({ domain });
    return await work(of);
  };
  const [closed, claimId] = await on(budgets, async (before) => {
    const by = await registerUser(before, { role: 'employee' as never });
    const teamId = await give({ type: 'FoundTeam', name: 'One' }, before);
    const id = await give({ type: 'MakeClaim', teamId, employeeId: by, amount: 1, purpose: 'x' }, before);
    await settled(before);
    return [teamId, id];
  });
  await on(still, (between) => give({ type: 'CloseTeam', teamId: closed }, between));
  await on(budgets, async (after) => {
    await settled(after);
    const events = (await Array.fromAsync(after.eventLog.read(`claim-${claimId}` as StreamName))).flat();
    expect(events.map(({ type }) => type)).toEqual(['claim.made']);
  });
});

test('a domain without reactions and timers is not polled', async () => {
  await using alone = await createCommandDatabase();
  await using idle = await alone.open({ domain: still });
  const asked: string[] = [];
  const query = (...given: Parameters<typeof idle.pool.query>) => {
    asked.push(String(given[0]));
    return idle.pool.query(...given);
  };
  expect(followingOf(still)).toBeUndefined();
  await using retrying = startRetrying({
    pool: { query },
    log: console,
    metrics: createMetrics(),
    reacting: undefined,
    clock: REAL_TIME,
  } as never);
  await until(
    async () => {
      // Its own process manager uses the same lease.
      await idle.pool.query(`delete from public.lease`);
      retrying.wake();
      return asked.filter((text) => text.includes('process_manager.parked')).length;
    },
    (times) => times > 1,
  );
  expect(asked.filter((text) => /process_manager\.(task|timer)|reacting r,/.test(text))).toEqual([]);
});

test('referring aggregates are recorded in pages, however many there are', async () => {
  await using alone = await createCommandDatabase();
  await using many = await alone.open({ domain: budgets });
  const teamId = await give({ type: 'FoundTeam', name: 'All' }, many);
  await settled(many);
  // Delays all tasks, so that the test can look at them.
  await many.pool.query(`create function public.never() returns trigger language plpgsql as $$
      begin new.next_at = clock_timestamp() + interval '4 minutes'; new.attempts = 1; return new; end $$;
    create trigger never before insert on process_manager.task for each row execute function public.never();
    insert into process_manager.reference (child, name, parent) select 'claim-' || n, 'claim.team', 'team-${teamId}' from generate_series(1, 2500) n`);
  await give({ type: 'CloseTeam', teamId }, many);
  await give({ type: 'ReopenTeam', teamId }, many);
  await settled(many);
  const { rows } = await many.pool.query<{ count: number; all: number }>(
    `select count(*)::int as count, count(distinct stream)::int as all from process_manager.task group by xmin::text order by min(number)`,
  );
  expect(rows).toEqual([1_000, 1_000, 500].map((count) => ({ count, all: count })));
});

/** The tasks that events record, in order; the transaction is rolled back. */
const notedOf = async (
  domain: Domain,
  happened: readonly (readonly [stream: string, type: string, data: object])[],
  more: RecordedEvent['metadata'] = {},
) => {
  const following = followingOf(domain);
  if (following === undefined) throw new Error('Something follows');
  const [like] = (await Array.fromAsync(side.eventLog.read(`user-${employee}` as StreamName))).flat();
  const events = happened.map(
    ([stream, type, data], place) =>
      ({
        ...like,
        ...{ stream, type, data },
        metadata: { ...like?.metadata, ...more },
        position: (place + 1) as Position,
        id: crypto.randomUUID(),
      }) as RecordedEvent,
  );
  const noted: string[] = [];
  await inTransaction(side.pool, async (connection) => {
    const damaged = (error: unknown) => {
      throw error;
    };
    await noteReactions(
      connection,
      { following, after: 0 as Position, catalogue: catalogueOf(domain) },
      events,
      damaged,
    );
    const streams = happened.map(([stream]) => stream);
    const { rows } = await connection.query<{ is: string }>(
      `with gone as (delete from process_manager.task where stream = any($1) returning number, task || ' ' || name as is)
       select gone."is" from gone order by number`,
      [streams],
    );
    noted.push(...rows.map(({ is }) => is));
    await connection.query('delete from process_manager.reference where child = any($1)', [streams]);
    await connection.query('delete from process_manager.ended where parent = any($1)', [streams]);
  });
  return noted;
};
const dissolved = ['team-901', 'team.dissolved', { teamId: 901 }] as const;
const made = ['claim-902', 'claim.made', { claimId: 902, teamId: 901, employeeId: 1, amount: 1 }] as const;

test('tasks of one aggregate are recorded in the order of its events, including reactions to earlier ends', async () => {
  const moved = ['claim-902', 'claim.moved', { claimId: 902, teamId: 903 }] as const;
  const approved = ['claim-902', 'claim.approved', { claimId: 902 }] as const;
  expect(await notedOf(budgets, [dissolved, made, approved])).toEqual([
    'run team team.dissolved',
    'react approved',
  ]);
  expect(await notedOf(budgets, [dissolved, made, moved])).toEqual(['run team team.dissolved']);
});

test('imported events cause no reactions, because what followed from them is imported too', async () => {
  const approved = ['claim-902', 'claim.approved', { claimId: 902 }] as const;
  const imported = { importedAt: '2026-01-01T00:00:00.000Z' };
  expect(await notedOf(budgets, [dissolved, made, approved], imported)).toEqual([]);
});

test('references in events of an earlier version are read after the upcast', async () => {
  const { made: event } = CLAIM.events;
  if (!event) throw new Error('Claims are made');
  const upcasted = {
    ...event,
    version: 2,
    upcast: {
      1: ({ groupId, ...data }: object & { groupId?: number }) => ({ ...data, teamId: groupId }),
    },
  };
  const later = {
    ...budgets,
    kinds: { ...budgets.kinds, claim: { ...CLAIM, events: { ...CLAIM.events, made: upcasted } } },
  } as Domain;
  const { teamId, ...before } = made[2];
  expect(await notedOf(later, [dissolved, [made[0], made[1], { ...before, groupId: teamId }]])).toEqual([
    'run team team.dissolved',
  ]);
});
