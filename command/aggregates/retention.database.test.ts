import { expect } from 'vitest';
import type { Role } from '#kernel/base/events/fields.ts';
import type { Command } from '#kernel/decide/decide.ts';
import { realTimeAhead } from '#shared/clock/real-time.ts';
import { policyOf } from '#shared/policy.ts';
import { allEvents, by, registerUser, system } from '../../test/engines/command-side.ts';
import { callerIn } from '../../test/engines/policy.ts';
import { test as processes } from '../../test/engines/processes.ts';
import { records } from '../../test/toy/records.ts';
import { until } from '../../testing/until.ts';
import { demandClocksAgree } from '../process-manager/clocks-agree.ts';

const policy = policyOf(records);
const DAY_MS = 86_400_000;
let aheadMs = 0;
const clock = realTimeAhead(() => aheadMs);
type Person = { readonly userId: number; readonly role: string };

const test = processes
  .extend('sideOptions', { scope: 'file' }, { domain: records, clock })
  .extend('desk', { scope: 'file' }, async ({ side }) => {
    const person = async (name: string, role: string): Promise<Person> => ({
      userId: await registerUser(side, { name, role: role as Role }),
      role,
    });
    const send = (command: Command, as?: Person, more = {}) =>
      side.send(
        command as never,
        by(as === undefined ? system : { ...callerIn(policy, as), client: 'web' }, more),
      );
    const [clerk, counsel, second] = [
      await person('Clerk', 'clerk'),
      await person('Counsel', 'counsel'),
      await person('Second', 'counsel'),
    ];
    const contract = async (keeper = clerk) => {
      const contractId = (await send({ type: 'SignContract', title: 'Rent' }, keeper)).id;
      return {
        contractId,
        terminate: () => send({ type: 'TerminateContract', contractId }, clerk),
        destroy: () => send({ type: 'DestroyContract', contractId }, clerk),
        isDestroyed: async () =>
          (await allEvents(side)).some(
            ({ type, stream }) =>
              (type as string) === 'contract.destroyed' && stream === `contract-${contractId}`,
          ),
        timer: async () => {
          const { rows } = await side.pool.query<{ due: Date | null }>(
            `select due_at as due from process_manager.timer where stream = $1 and name = 'retention'`,
            [`contract-${contractId}`],
          );
          return rows[0];
        },
      };
    };
    return { person, send, clerk, counsel, second, contract };
  });

test('what must be kept cannot be deleted before, and ends then', async ({ desk }) => {
  const running = await desk.contract();
  await running.destroy();
  const { terminate, destroy, timer, isDestroyed } = await desk.contract();
  await terminate();
  const refusal = await destroy().catch((error: unknown) => error);
  const year = new Date(clock.nowMs()).getUTCFullYear() + 10;
  expect(refusal).toMatchObject({
    code: 'contract_retained',
    message: expect.stringContaining(`until ${year}-`),
  });
  const due = await until(async () => (await timer())?.due, Boolean);
  expect(due?.toISOString()).toBe((refusal as { details: { until: string } }).details.until);
  aheadMs += 10 * 365 * DAY_MS;
  await expect(destroy()).rejects.toMatchObject({ code: 'contract_retained' });
  aheadMs += 4 * DAY_MS;
  await until(isDestroyed, Boolean);
});

test('a hold goes before retention, and the end of an owner does not end it earlier', async ({
  desk,
  side,
}) => {
  const { person, send, counsel, second, contract } = desk;
  const keeper = await person('Keeper', 'clerk');
  const { contractId, terminate, timer, isDestroyed } = await contract(keeper);
  await terminate();
  await send({ type: 'PlaceHoldContract', contractId, reason: 'Audit' }, counsel);
  await until(async () => (await timer())?.due === null, Boolean);
  await send({ type: 'DeleteUser', userId: keeper.userId });
  aheadMs += 11 * 366 * DAY_MS;
  const free = await contract();
  await free.terminate();
  await until(async () => (await free.timer())?.due, Boolean);
  expect(await isDestroyed()).toBe(false);
  await send({ type: 'ReleaseHoldContract', contractId, holdId: 1 }, second, { reason: 'Done' });
  await until(isDestroyed, Boolean);
  const failed = 'select stream from process_manager.task where attempts > 0';
  await until(
    () => side.pool.query(failed),
    ({ rowCount }) => rowCount === 0,
  );
});

test('nothing ends while the clocks of the database and the process differ', async () => {
  let [databaseMs, processMs, elapsedMs] = [0, 0, 0];
  const pool = { query: async () => ({ rows: [{ nowMs: databaseMs }] }) } as never;
  const agree = () =>
    demandClocksAgree({
      pool,
      clock: { ...clock, nowMs: () => processMs, aheadMs: () => 0, elapsedMs: () => elapsedMs },
    });
  await agree();
  [databaseMs, processMs, elapsedMs] = [3_600_000, 3_601_000, 3_600_000];
  await agree();
  databaseMs += 120_000;
  await expect(agree()).rejects.toThrow('differ by 119 s');
  // Both jump, as on one machine whose clock is set.
  processMs = databaseMs;
  await expect(agree()).rejects.toThrow('has jumped ahead by 120 s');
  elapsedMs += 120_000;
  await agree();
});
