import { expect, test } from 'vitest';
import { gatewayKey } from '#edge/command-gateway/assertion.ts';
import { createHttpGateway } from '#edge/command-gateway/http-gateway.ts';
import type { StreamName } from '#kernel/base/brands.ts';
import type { Command } from '#kernel/decide/decide.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import {
  by,
  type CommandDatabase,
  createCommandDatabase,
  registerUser,
  system,
} from '../../test/engines/command-side.ts';
import { type RoleProcess, startRole } from '../../test/engines/role-process.ts';
import { budgets } from '../../test/toy/budgets.ts';
import { until } from '../../testing/until.ts';

const give = async (to: CommandGateway, command: Command): Promise<number> =>
  (await to.send(command as never, by(system))).id;

/** A command role in a process of its own. */
const startCommand = async ({
  settings,
}: CommandDatabase): Promise<{ role: RoleProcess; gateway: CommandGateway }> => {
  const role = startRole('test/toy/budgets-main.ts command', settings);
  const { url } = await role.logged('Listening for commands of other roles.');
  const key = gatewayKey(parseMasterKey(settings.MASTER_KEY ?? ''));
  return {
    role,
    gateway: createHttpGateway({
      clock: REAL_TIME,
      urls: [String(url)],
      key,
      issuer: 'test',
      timeoutMs: 30_000,
    }),
  };
};

/** The advisory lock at which a statement of the process waits; its transaction stops there. */
const GATE = 77;

type Gate = { readonly table: string; readonly on: string; readonly isSecond: string };

/** Kills the process while its transaction waits at a gate. */
const killAtGate = async (
  pool: Pool,
  { table, on, isSecond }: Gate,
  role: RoleProcess,
  begin: () => Promise<unknown>,
): Promise<void> => {
  await pool.query(
    `create function public.wait_at_gate() returns trigger language plpgsql as $$
       begin if ${isSecond} then perform pg_advisory_xact_lock(${GATE}); end if; return null; end $$;
     create trigger gate before ${on} on ${table} for each statement execute function public.wait_at_gate()`,
  );
  const closed = await pool.connect();
  await closed.query(`select pg_advisory_lock(${GATE})`);
  await begin();
  const { rows } = await until(
    () =>
      pool.query<{ pid: number }>(
        `select pid from pg_locks where locktype = 'advisory' and objid = ${GATE} and not granted`,
      ),
    ({ rowCount }) => rowCount === 1,
  );
  await role.kill('SIGKILL');
  // Otherwise the server would notice only at the end of the statement.
  await closed.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  await until(
    () => pool.query('select from pg_stat_activity where pid = $1', [rows[0]?.pid]),
    ({ rowCount }) => rowCount === 0,
  );
  await closed.query(`drop trigger gate on ${table}; select pg_advisory_unlock(${GATE})`);
  closed.release();
};

test.each([
  ['an event', 'CloseTeam', [2_500, 2_500]],
  ['an end', 'DissolveTeam', [1_500, 0]],
])(
  'kill -9 between two pages of aggregates that refer to %s records each once',
  async (_what, type, referring) => {
    await using database = await createCommandDatabase();
    await using pool = openPool({
      url: database.settings.DATABASE_URL ?? '',
      applicationName: 'test',
      connectionsMax: 4,
    });
    const { role, gateway } = await startCommand(database);
    await using _running = role;
    const teamId = await give(gateway, { type: 'FoundTeam', name: 'All' });
    // Delays all tasks, so that the test can look at them.
    await pool.query(`create function public.never() returns trigger language plpgsql as $$
      begin new.next_at = clock_timestamp() + interval '4 minutes'; new.attempts = 1; return new; end $$;
    create trigger never before insert on process_manager.task for each row execute function public.never();
    insert into process_manager.reference (child, name, parent) select 'claim-' || n, 'claim.team', 'team-${teamId}' from generate_series(1, 2500) n`);
    const noted = async () => {
      const { rows } = await pool.query<{ count: number; all: number }>(
        `select count(*)::int as count, count(distinct stream)::int as all from process_manager.task group by xmin::text order by min(number)`,
      );
      return rows.map(({ count, all }) => [count, all]);
    };
    const references = async () => (await pool.query('select from process_manager.reference')).rowCount;
    const isSecond = 'exists (select from process_manager.fan_out)';
    await killAtGate(pool, { table: 'process_manager.fan_out', on: 'insert', isSecond }, role, () =>
      give(gateway, { type, teamId }),
    );
    expect([await noted(), await references()]).toEqual([[[1_000, 1_000]], referring[0]]);
    await using next = await database.open({ domain: budgets });
    const head = await next.eventLog.head();
    await until(
      () =>
        pool.query(`select from public.follower_checkpoint where follower = 'reactions' and position >= $1`, [
          head,
        ]),
      ({ rowCount }) => rowCount === 1,
    );
    expect([await noted(), await references()]).toEqual([
      [1_000, 1_000, 500].map((count) => [count, count]),
      referring[1],
    ]);
  },
);

test('kill -9 between two pages of aggregates that end with their owner ends each once', async () => {
  await using database = await createCommandDatabase();
  await using pool = openPool({
    url: database.settings.DATABASE_URL ?? '',
    applicationName: 'test',
    connectionsMax: 4,
  });
  const { role, gateway } = await startCommand(database);
  await using _running = role;
  const employeeId = await registerUser(gateway, { role: 'employee' as never });
  const teamId = await give(gateway, { type: 'FoundTeam', name: 'All' });
  const form = { type: 'MakeClaim', teamId, employeeId, amount: 1, purpose: 'x' };
  const claims = await Promise.all(Array.from({ length: 250 }, () => give(gateway, form)));
  const members = async () =>
    (await pool.query(`select from process_manager.member where parent = $1`, [`user-${employeeId}`]))
      .rowCount;
  await until(members, (count) => count === claims.length);
  const isSecond = `(select count(*) from process_manager.member) < ${claims.length}`;
  const end = () => gateway.send({ type: 'DeleteUser', userId: employeeId }, by(system));
  await killAtGate(pool, { table: 'process_manager.member', on: 'delete', isSecond }, role, end);
  expect(await members()).toBe(150);
  await using next = await database.open({ domain: budgets });
  await until(
    () => next.keys.find([employeeId]),
    (keys) => keys.get(employeeId) === 'destroyed',
  );
  for (const claimId of claims) {
    const events = (await Array.fromAsync(next.eventLog.read(`claim-${claimId}` as StreamName))).flat();
    expect(events.map(({ type }) => type)).toEqual(['claim.made', 'claim.deleted']);
  }
});
