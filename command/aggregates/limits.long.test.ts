// Over 200 lines, because every case runs on both logs.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { EventId, StreamName, UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Command } from '#kernel/decide/decide.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import {
  allEvents,
  by,
  type CommandDatabase,
  type CommandSide,
  createCommandDatabase,
  Died,
  mortal,
  registerUser,
  system,
} from '../../test/engines/command-side.ts';
import { later } from '../../test/engines/later.ts';
import { LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { lending } from '../../test/toy/lending.ts';
import { until } from '../../testing/until.ts';

const OPEN_MAX = 3;
const RUNS = 4;

describe.each(LOG_ENGINES)('on %s', (_, startLog) => {
  let database: CommandDatabase;
  let side: CommandSide;
  let other: CommandSide;
  const open = (wrapLog?: (log: EventLog) => EventLog) => database.open({ wrapLog, domain: lending });
  beforeAll(async () => {
    database = await createCommandDatabase({ startLog });
    side = await open();
    other = await open();
  });
  afterAll(async () => {
    await other?.[Symbol.asyncDispose]();
    await side?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const give = async (command: Command, to: CommandSide = side, more = {}): Promise<number> =>
    (await to.send(command as never, by(system, more))).id;
  const member = () => registerUser(side, { role: 'member' as never });
  let codes = 0;
  const newCode = () => {
    codes += 1;
    return `B-${codes}`;
  };
  const buy = (more: object = {}, to = side) =>
    give({ type: 'BuyBook', code: newCode(), shelf: null, ...more }, to);
  const lend = async (borrowerId: UserId, to = side, bookId?: number, more = {}) =>
    give({ type: 'LendLoan', borrowerId, bookId: bookId ?? (await buy()) }, to, more);

  /** The states of all aggregates of a kind, folded from the log. */
  const statesOf = async (name: string): Promise<readonly AggregateState[]> => {
    const kind = lending.kinds[name] as Kind;
    const { evolve, initial } = deciderOf(lending, kind);
    const states = new Map<string, AggregateState>();
    for (const event of await allEvents(side))
      if (event.stream.startsWith(`${name}-`))
        states.set(event.stream, evolve(states.get(event.stream) ?? initial, event));
    return [...states.values()];
  };
  const openOf = async (borrower: number) =>
    (await statesOf('loan')).filter(
      (state) =>
        state.status === 'present' && state.fields.borrower === borrower && state.fields.status === 'open',
    );
  const typesIn = async (stream: string) =>
    (await allEvents(side)).filter((each) => each.stream === stream).map(({ type }) => type as string);

  test('a unique value is taken once, ignoring case, and free after it is given up', async () => {
    const first = await buy({ code: 'Dune-1' });
    for (const [code, to] of [
      ['Dune-1', side],
      ['dune-1', other],
      ['DUNE-1', other],
    ] as const)
      await expect(buy({ code }, to)).rejects.toMatchObject({
        code: 'book_code_taken',
        message: 'The book code is taken.',
      });
    await give({ type: 'ChangeBook', bookId: first, code: 'DUNE-1' });
    await give({ type: 'ChangeBook', bookId: first, code: 'Dune-2' });
    await buy({ code: 'dune-1' }, other);
    await expect(give({ type: 'ChangeBook', bookId: first, code: 'Dune-1' })).rejects.toMatchObject({
      code: 'book_code_taken',
    });
    await give({ type: 'SellBook', bookId: first });
    await buy({ code: 'Dune-2' }, other);
  });

  test('null does not equal null', async () => {
    await Promise.all(Array.from({ length: 4 }, () => buy()));
    await buy({ shelf: 'top' });
    await expect(buy({ shelf: 'Top' })).rejects.toMatchObject({ code: 'book_shelf_taken' });
  });

  test('the limit holds, whichever event makes an aggregate count', async () => {
    const borrower = await member();
    const loans = [await lend(borrower), await lend(borrower, other), await lend(borrower)];
    const full = {
      code: 'loan_open_full',
      details: { max: OPEN_MAX },
      message: 'You have three books already: return one first.',
    };
    await expect(lend(borrower, other)).rejects.toMatchObject(full);
    await give({ type: 'ReturnLoan', loanId: loans[0] });
    const fourth = await lend(borrower, other);
    await expect(give({ type: 'ReopenLoan', loanId: loans[0] })).rejects.toMatchObject(full);
    await give({ type: 'EraseLoan', loanId: fourth });
    await give({ type: 'ReopenLoan', loanId: loans[0] });
    await expect(lend(borrower)).rejects.toMatchObject(full);
    await lend(await member());
  });

  test('a limit by another field follows changes of that field', async () => {
    const [one, two] = [await buy(), await buy()];
    const loan = await lend(await member(), side, one);
    await expect(lend(await member(), other, one)).rejects.toMatchObject({
      code: 'loan_out_full',
      message: 'Somebody else has the book.',
    });
    await give({ type: 'MoveLoan', loanId: loan, bookId: two });
    const second = await lend(await member(), other, one);
    await expect(give({ type: 'MoveLoan', loanId: loan, bookId: one })).rejects.toMatchObject({
      code: 'loan_out_full',
    });
    await give({ type: 'ReturnLoan', loanId: second });
    await give({ type: 'MoveLoan', loanId: loan, bookId: one });
  });

  test('a refusal by one limit leaves no claim of another', async () => {
    const book = await buy();
    await lend(await member(), side, book);
    const claimed = async () =>
      (await allEvents(side)).filter(({ type }) => (type as string) === 'limit.claimed').length;
    const before = await claimed();
    await expect(lend(await member(), other, book)).rejects.toMatchObject({ code: 'loan_out_full' });
    expect(await claimed()).toBe(before);
  });

  test('parallel requests in two processes never exceed a limit, and freed places are used again', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ isOther: fc.boolean(), returns: fc.boolean() }), {
          minLength: 5,
          maxLength: 10,
        }),
        async (requests) => {
          const borrower = await member();
          const books = await Promise.all(requests.map(() => buy()));
          const kept = await Promise.all(
            requests.map(async ({ isOther, returns }, index) => {
              try {
                const loanId = await lend(borrower, isOther ? other : side, books[index]);
                expect((await openOf(borrower)).length).toBeLessThanOrEqual(OPEN_MAX);
                if (returns) await give({ type: 'ReturnLoan', loanId }, isOther ? side : other);
                return returns ? [] : [loanId];
              } catch (error) {
                if (!(error instanceof Rejection)) throw error;
                expect(['loan_open_full', 'conflict']).toContain(error.code);
                return [];
              }
            }),
          );
          const left = kept.flat().length;
          expect((await openOf(borrower)).length).toBe(left);
          for (let free = OPEN_MAX - left; free > 0; free -= 1) await lend(borrower, other);
          await expect(lend(borrower)).rejects.toMatchObject({ code: 'loan_open_full' });
        },
      ),
      { numRuns: RUNS },
    );
  });

  test('of parallel requests for one value in two processes, one succeeds', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) => buy({ code: 'Parallel' }, n % 2 ? side : other)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(['book_code_taken', 'conflict']).toContain(outcome.reason.code);
  });

  test('a claim is released if its process died before the append, and its id is used up', async () => {
    const borrower = await member();
    {
      await using dying = await open(mortal((stream) => (stream.startsWith('loan-') ? 'before' : undefined)));
      for (let each = 0; each < OPEN_MAX; each += 1)
        await expect(lend(borrower, dying, await buy())).rejects.toThrow(Died);
    }
    later();
    for (let each = 0; each < OPEN_MAX; each += 1) await lend(borrower, other);
    await expect(lend(borrower)).rejects.toMatchObject({ code: 'loan_open_full' });
    const spent = (await statesOf('loan')).filter((state) => state.status === 'absent');
    expect(spent).not.toHaveLength(0);
  });

  test('a claim counts if its process died after the append', async () => {
    const borrower = await member();
    {
      await using dying = await open(mortal((stream) => (stream.startsWith('loan-') ? 'after' : undefined)));
      for (let each = 0; each < OPEN_MAX; each += 1)
        await expect(lend(borrower, dying, await buy())).rejects.toThrow(Died);
    }
    later();
    await expect(lend(borrower)).rejects.toMatchObject({ code: 'loan_open_full' });
    expect(await openOf(borrower)).toHaveLength(OPEN_MAX);
  });

  test('a retry with the same key after a crash uses the claimed place', async () => {
    const [borrower, bookId] = [await member(), await buy()];
    const idempotencyKey = 'lent-once';
    {
      await using dying = await open(mortal((stream) => (stream.startsWith('loan-') ? 'before' : undefined)));
      await expect(lend(borrower, dying, bookId, { idempotencyKey })).rejects.toThrow(Died);
    }
    later(11_000);
    const id = await lend(borrower, other, bookId, { idempotencyKey });
    expect(await lend(borrower, side, bookId, { idempotencyKey })).toBe(id);
    expect(await typesIn(`loan-${id}`)).toEqual(['loan.lent']);
  });

  test('a slow append after its claim was abandoned is decided again', async () => {
    const borrower = await member();
    const [, , returned] = [await lend(borrower), await lend(borrower), await lend(borrower)];
    await give({ type: 'ReturnLoan', loanId: returned });
    const { promise: waiting, resolve: goOn } = Promise.withResolvers<void>();
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    await using slow = await open((log) => ({
      ...log,
      async append(stream, expected, events) {
        if (stream.startsWith('loan-')) {
          reach();
          await waiting;
        }
        return log.append(stream, expected, events);
      },
    }));
    const late = give({ type: 'ReopenLoan', loanId: returned }, slow);
    const outcome = expect(late).rejects.toMatchObject({ code: 'loan_open_full' });
    await reached;
    later();
    await lend(borrower, other);
    goOn();
    await outcome;
    expect(await typesIn(`loan-${returned}`)).toEqual(['loan.lent', 'loan.returned', 'loan.claim_abandoned']);
    expect(await openOf(borrower)).toHaveLength(OPEN_MAX);
  });

  test('a reaction obeys the limit', async () => {
    const [borrower, bookId] = [await member(), await buy()];
    const returned = await lend(borrower, side, bookId);
    await give({ type: 'ReturnLoan', loanId: returned });
    for (let each = 0; each < OPEN_MAX; each += 1) await lend(borrower);
    await give({ type: 'ReopenBook', bookId });
    const parked = () =>
      side.pool.query('select 1 from process_manager.task where stream = $1 and attempts > 0', [
        `loan-${returned}`,
      ]);
    await until(parked, ({ rows }) => rows.length > 0);
    expect(await typesIn(`loan-${returned}`)).toEqual(['loan.lent', 'loan.returned']);
  });

  test('a personal value is unique, never in clear, and free after its person is erased', async () => {
    const secret = 'CARD-4711-of-Ada';
    const holder = await member();
    await give({ type: 'IssueCard', holderId: holder, number: secret });
    const second = await member();
    await expect(
      give({ type: 'IssueCard', holderId: second, number: secret.toLowerCase() }, other),
    ).rejects.toMatchObject({
      code: 'card_number_taken',
    });
    const raw: unknown[] = [];
    const head = await side.eventLog.head();
    for await (const page of side.eventLog.follow(0 as never, new AbortController().signal)) {
      raw.push(...page);
      if ((page.at(-1)?.position ?? 0) >= head) break;
    }
    expect(JSON.stringify(raw)).toContain('limit.claimed');
    expect(JSON.stringify(raw).toLowerCase()).not.toContain(secret.toLowerCase());
    await give({ type: 'DeleteUser', userId: holder });
    // Keys are cached for some seconds.
    const isIssued = () =>
      give({ type: 'IssueCard', holderId: second, number: secret }, other).then(
        () => true,
        (error: unknown) => {
          if (error instanceof Rejection && error.code === ('card_number_taken' as string)) return false;
          throw error;
        },
      );
    await until(isIssued, (is) => is);
  });

  // Runs last, because the log has an unreadable event afterwards.
  test('an aggregate with an unreadable event keeps its place, and a request for it is refused', async () => {
    const bookId = await buy();
    const loan = await lend(await member(), side, bookId);
    const damaged = {
      id: randomUUID() as EventId,
      type: 'loan.moved',
      data: { loanId: loan, bookId: 'none' },
      metadata: { version: 1 },
    };
    await side.eventLog.append(`loan-${loan}` as StreamName, 'any', [damaged]);
    for (const to of [side, other])
      await expect(lend(await member(), to, bookId)).rejects.toMatchObject({
        code: 'loan_out_full',
        message: 'Somebody else has the book.',
      });
  });
});
