// Over 200 lines, because all cases share the command side that is set up here.
import { afterEach, expect, vi } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import type { EventId } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Command } from '#kernel/decide/decide.ts';
import { domain } from '#kernel/declare/domain.ts';
import { integer, ref, states } from '#kernel/declare/fields.ts';
import {
  allEvents,
  by,
  type CommandSide,
  createCommandDatabase,
  Died,
  mortal,
  system,
} from '../../test/engines/command-side.ts';
import { later } from '../../test/engines/later.ts';
import { LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { test as processes } from '../../test/engines/processes.ts';
import { createRandom, shuffled } from '../../testing/random.ts';
import { SEED } from '../../testing/seed.ts';

/** Claims can be submitted only while their team is open, and within its budget. */
const base = domain({ name: 'reading', roles: ['member'] });
const { aggregate } = base;
const anyone = { read: { signedIn: true }, write: { signedIn: true } } as const;
const team = aggregate('team', {
  fields: { budget: integer(0, 1_000), status: states('open', 'closed') },
  events: {
    formed: { creates: ['budget'] },
    budgeted: { changes: ['budget'] },
    closed: { sets: { status: 'closed' } },
    opened: { sets: { status: 'open' } },
    dissolved: { ends: true },
  },
  commands: {
    form: { emits: 'formed' },
    budget: { emits: 'budgeted' },
    close: { emits: 'closed' },
    open: { emits: 'opened' },
    dissolve: { emits: 'dissolved' },
  },
  rights: anyone,
});
const claim = aggregate('claim', {
  fields: { team: ref(team), amount: integer(1, 1_000), status: states('draft', 'submitted', 'approved') },
  events: {
    drafted: { creates: ['team', 'amount'] },
    moved: { changes: ['team'] },
    submitted: { sets: { status: 'submitted' } },
    returned: { sets: { status: 'draft' } },
    approved: { sets: { status: 'approved' } },
  },
  commands: {
    draft: { emits: 'drafted', when: { team: 'open' }, reads: ['team'] },
    move: {
      emits: ['moved'],
      reads: ['team'],
      decide: ({ state, reads: { team: next } }) =>
        next !== null && next.status === 'open' && next.budget >= state.amount ? ['moved'] : [],
    },
    submit: {
      emits: ['submitted'],
      reads: ['team'],
      refuses: { overBudget: 'The budget of the team is used up.' },
      decide: ({ state, reads, refuse }) =>
        (reads.team?.budget ?? 0) >= state.amount ? ['submitted'] : refuse('overBudget'),
    },
    return: { emits: 'returned' },
    approve: { emits: 'approved', when: { submitted: true, team: 'open' }, reads: ['team'] },
  },
  rights: anyone,
});
const reading = assemble(base, [team, claim]);
const [[, startLog]] = LOG_ENGINES.filter(([name]) => /postgres/i.test(name)) as [
  (typeof LOG_ENGINES)[number],
];
const others = LOG_ENGINES.filter(([name]) => !/postgres/i.test(name));

const test = processes
  .extend('databaseOptions', { scope: 'file' }, { startLog })
  .extend('sideOptions', { scope: 'file' }, { domain: reading })
  .extend('teams', { scope: 'file' }, ({ side }) => {
    const give = async (command: Command, to: CommandSide = side, more = {}): Promise<number> =>
      (await to.send(command as never, by(system, more))).id;
    const form = (budget: number) => give({ type: 'FormTeam', budget });
    const draft = (teamId: number, amount: number, to = side) =>
      give({ type: 'DraftClaim', teamId, amount }, to);
    /** The events of claims that did not fit their team at their position in the log. */
    const misfits = async (): Promise<readonly string[]> => {
      const [teams, claims]: [Teams, Record<number, { team: number; amount: number }>] = [{}, {}];
      const wrong: string[] = [];
      for (const { type, data, stream } of (await allEvents(side)) as readonly {
        type: string;
        stream: string;
        data: Record<string, number>;
      }[]) {
        const id = Number(stream.split('-')[1]);
        const at = teams[id] ?? { open: true, budget: 0 };
        const its = claims[id] ?? { team: 0, amount: 0 };
        const of = teams[data.teamId ?? its.team];
        if (type === 'team.formed' || type === 'team.budgeted')
          teams[id] = { ...at, budget: data.budget as number };
        if (type === 'team.closed' || type === 'team.opened')
          teams[id] = { ...at, open: type === 'team.opened' };
        if (type === 'claim.drafted')
          claims[id] = { team: data.teamId as number, amount: data.amount as number };
        if (type === 'claim.moved') claims[id] = { ...its, team: data.teamId as number };
        const isOpen = of?.open === true;
        const isAffordable = (of?.budget ?? 0) >= (claims[id]?.amount ?? 0);
        const fits = {
          'claim.drafted': isOpen,
          'claim.approved': isOpen,
          'claim.moved': isOpen && isAffordable,
          'claim.submitted': isAffordable,
        }[type];
        if (fits === false) wrong.push(`${type} of ${stream}`);
      }
      return wrong;
    };
    return { draft, form, give, misfits };
  });

afterEach(() => {
  vi.useRealTimers();
});

const expected = (error: unknown) => {
  if (!(error instanceof Rejection)) throw error;
};

type Teams = Record<number, { open: boolean; budget: number }>;

test('a decision gets the states that it reads, and targets of its guards are fenced too', async ({
  side,
  teams: { draft, form, give },
}) => {
  const [poor, rich] = [await form(10), await form(100)];
  const id = await draft(poor, 50);
  await expect(give({ type: 'SubmitClaim', claimId: id })).rejects.toMatchObject({
    code: 'claim_over_budget',
  });
  await give({ type: 'MoveClaim', claimId: id, teamId: rich });
  expect((await side.send({ type: 'SubmitClaim', claimId: id } as never, by(system))).version).toBe(3);
  await give({ type: 'CloseTeam', teamId: rich });
  await expect(give({ type: 'ApproveClaim', claimId: id })).rejects.toMatchObject({ code: 'team_not_open' });
  await expect(draft(rich, 1)).rejects.toMatchObject({ code: 'team_not_open' });
  await give({ type: 'DissolveTeam', teamId: poor });
  await expect(draft(poor, 1)).rejects.toMatchObject({ code: 'team_deleted' });
});

test('concurrent decisions of two processes on each other’s data are consistent in log order', async ({
  other,
  side,
  teams: { draft, form, give, misfits },
}) => {
  const random = createRandom(SEED);
  const [one, two] = [await form(100), await form(100)];
  const sides = [side, other];
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, index) => draft(index % 2 === 0 ? one : two, 60)),
  );
  for (let round = 0; round < 12; round += 1) {
    const changes = [one, two].flatMap((teamId, index): Command[] => [
      { type: round % 2 === 0 ? 'CloseTeam' : 'OpenTeam', teamId },
      { type: 'BudgetTeam', teamId, budget: (round + index) % 3 === 0 ? 10 : 100 },
    ]);
    const decisions = ids.flatMap((claimId, index): Command[] => [
      { type: 'SubmitClaim', claimId },
      { type: 'ApproveClaim', claimId },
      { type: 'ReturnClaim', claimId },
      { type: 'MoveClaim', claimId, teamId: index % 3 === 0 ? one : two },
    ]);
    const all = shuffled(random, [...decisions, ...changes, { type: 'DraftClaim', teamId: one, amount: 5 }]);
    await Promise.all(all.map((command, index) => give(command, sides[index % 2]).catch(expected)));
  }
  const counts = Map.groupBy(await allEvents(side), ({ type }) => type as string);
  for (const type of ['claim.submitted', 'claim.approved', 'claim.moved', 'team.closed'])
    expect(counts.get(type)?.length, type).toBeGreaterThan(3);
  expect(await misfits()).toEqual([]);
});

test('a command of a process that died runs once or not at all', async ({
  database,
  side,
  teams: { draft, form, give },
}) => {
  const teamId = await form(100);
  const claimId = await draft(teamId, 50);
  for (const when of ['before', 'after'] as const) {
    await using dying = await database.open({
      wrapLog: mortal((stream) => (stream.startsWith('claim-') ? when : undefined)),
      domain: reading,
    });
    const more = { idempotencyKey: `submit-${when}-${claimId}` };
    await expect(give({ type: 'SubmitClaim', claimId }, dying, more)).rejects.toThrow(Died);
    await give({ type: 'BudgetTeam', teamId, budget: when === 'before' ? 90 : 10 });
    // Long enough for the first process to count as dead.
    later(60_000);
    await give({ type: 'SubmitClaim', claimId }, side, more);
    vi.useRealTimers();
    await give({ type: 'ReturnClaim', claimId });
  }
  const types = (await allEvents(side))
    .filter(({ stream }) => stream === `claim-${claimId}`)
    .map(({ type }) => type as string);
  expect(types).toEqual([
    'claim.drafted',
    'claim.submitted',
    'claim.returned',
    'claim.submitted',
    'claim.returned',
  ]);
});

test.each(others)('%s refuses it at start, with a solution', async (_, start) => {
  await using away = await createCommandDatabase({ startLog: start });
  await expect(away.open({ domain: reading })).rejects.toThrow(
    'claim: the command draft reads team, which EventStoreDB cannot lock until the events are appended: keep the event log in PostgreSQL, or remove `reads`.',
  );
});

test('a command that reads an unreadable aggregate reports it as parked until an operator acts', async ({
  other,
  side,
  teams: { draft, form, give },
}) => {
  const teamId = await form(100);
  const claimId = await draft(teamId, 50);
  const [formed] = (await Array.fromAsync(side.eventLog.read(streamName('team', teamId)))).flat();
  if (formed === undefined) throw new Error('there is no team');
  const damaged = {
    ...formed,
    id: crypto.randomUUID() as EventId,
    type: 'team.budgeted',
    data: { teamId, budget: 'much' },
  };
  await side.eventLog.append(streamName('team', teamId), 'any', [damaged]);
  for (const to of [side, other])
    await expect(give({ type: 'SubmitClaim', claimId }, to)).rejects.toMatchObject({ code: 'parked' });
});
