// Over 200 lines, because it is one matrix: who holds and releases, and every way in which a held item could end.
import { expect } from 'vitest';
import type { Role } from '#kernel/base/events/fields.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Command } from '#kernel/decide/decide.ts';
import { policyOf } from '#shared/policy.ts';
import { allEvents, by, type CommandSide, registerUser, system } from '../../test/engines/command-side.ts';
import { callerIn } from '../../test/engines/policy.ts';
import { test as processes } from '../../test/engines/processes.ts';
import { records } from '../../test/toy/records.ts';
import { until } from '../../testing/until.ts';

const policy = policyOf(records);
type Person = { readonly userId: number; readonly role: string };
type More = { readonly to?: CommandSide; readonly client?: string; readonly reason?: string };

const test = processes
  .extend('sideOptions', { scope: 'file' }, { domain: records })
  .extend('desk', { scope: 'file' }, async ({ side }) => {
    const person = async (name: string, role: string): Promise<Person> => ({
      userId: await registerUser(side, { name, role: role as Role }),
      role,
    });
    const send = async (command: Command, as?: Person, { client = 'web', to = side, ...more }: More = {}) =>
      to.send(
        command as never,
        by(as === undefined ? system : { ...callerIn(policy, as), client }, more as never),
      );
    const [clerk, counsel, second] = [
      await person('Clerk', 'clerk'),
      await person('Counsel', 'counsel'),
      await person('Second', 'counsel'),
    ];
    const folder = async () => (await send({ type: 'OpenFolder', title: 'Case' }, clerk)).id;
    const record = async (author = clerk, folderId?: number) =>
      (await send({ type: 'FileRecord', folderId: folderId ?? (await folder()), text: 'Dear' }, author)).id;
    const place = (
      recordId: number,
      as = counsel,
      { why = 'Litigation 7', ...more }: More & { why?: string } = {},
    ) => send({ type: 'PlaceHoldRecord', recordId, reason: why }, as, more);
    const release = (recordId: number, as = second, more: More & { holdId?: number } = {}) => {
      const { holdId = 1, ...rest } = more;
      return send({ type: 'ReleaseHoldRecord', recordId, holdId }, as, { reason: 'Settled', ...rest });
    };
    const remove = (recordId: number, as: Person | undefined = clerk, more: More = {}) =>
      send({ type: 'DeleteRecord', recordId }, as, more);
    return { person, send, clerk, counsel, second, folder, record, place, release, remove };
  });

const typesOf = async (side: CommandSide, stream: string) =>
  (await allEvents(side)).filter((event) => event.stream === stream).map(({ type }) => type as string);
const isEnded = async (side: CommandSide, id: number) =>
  (await typesOf(side, `record-${id}`)).includes('record.deleted');

test('a hold refuses the deletion, and says why to those who may read it', async ({ desk }) => {
  const { record, place, release, remove, send, clerk, counsel } = desk;
  const id = await record();
  await place(id);
  const refusal = await remove(id, clerk).catch((error: unknown) => error as Rejection);
  expect(refusal).toMatchObject({
    code: 'record_held',
    message: 'The record is under a hold: it cannot be deleted until the hold is released.',
  });
  // Reads of records are logged, and a refusal is no read.
  await expect(remove(id, counsel)).rejects.toThrow((refusal as Rejection).message);
  const contractId = (await send({ type: 'SignContract', title: 'One' }, clerk)).id;
  await send({ type: 'PlaceHoldContract', contractId, reason: 'Litigation 8' }, counsel);
  const destroy = () => send({ type: 'DestroyContract', contractId }, counsel);
  await expect(destroy()).rejects.toMatchObject({
    code: 'contract_held',
    message: expect.stringContaining(`user ${counsel.userId} placed`),
    details: { placedBy: counsel.userId, holds: 1 },
  });
  await expect(destroy()).rejects.toThrow('“Litigation 8”');
  await expect(remove(id, undefined)).rejects.toMatchObject({ code: 'record_held' });
  await release(id);
  await remove(id);
});

test('nobody releases their own hold, and nothing that acts for a person releases one', async ({ desk }) => {
  const { record, place, release, remove, send, counsel, second, clerk } = desk;
  const id = await record();
  await place(id);
  await expect(release(id, counsel)).rejects.toMatchObject({ code: 'record_own_hold' });
  await expect(release(id, second, { client: 'web>bot' })).rejects.toMatchObject({ code: 'person_releases' });
  await expect(release(id, counsel, { client: 'web>bot' })).rejects.toMatchObject({
    code: 'person_releases',
  });
  await expect(
    send({ type: 'ReleaseHoldRecord', recordId: id, holdId: 1 }, undefined, { reason: 'x' }),
  ).rejects.toMatchObject({ code: 'person_releases' });
  await expect(release(id, clerk)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(send({ type: 'ReleaseHoldRecord', recordId: id, holdId: 1 }, second)).rejects.toMatchObject({
    code: 'reason_required',
  });
  await expect(place(id, clerk)).rejects.toMatchObject({ code: 'forbidden' });
  // A second hold stays when the first is released.
  await place(id, second, { why: 'Audit' });
  await release(id, second);
  await expect(remove(id)).rejects.toMatchObject({ code: 'record_held' });
  await expect(release(id, second, { holdId: 2 })).rejects.toMatchObject({ code: 'record_own_hold' });
  await release(id, counsel, { holdId: 2 });
  await remove(id);
});

test('blanks and lines are no reason', async ({ desk }) => {
  const { record, place } = desk;
  const id = await record();
  for (const why of ['', '  ', ' \u200b ', '\u00a0', 'two\nlines', 'x'.repeat(501)])
    await expect(place(id, undefined, { why }), JSON.stringify(why)).rejects.toThrow();
});

test('of a deletion and a hold at the same time, one is refused', async ({ other, side, desk }) => {
  const { record, place, remove } = desk;
  const outcomes = new Set<string>();
  for (let round = 0; round < 12; round += 1) {
    const id = await record();
    const [removed, placed] = await Promise.allSettled(
      round % 2 === 0
        ? [remove(id, undefined, { to: other }), place(id)]
        : [remove(id), place(id, undefined, { to: other })],
    );
    expect([removed?.status, placed?.status].toSorted()).toEqual(['fulfilled', 'rejected']);
    const refused = (removed?.status === 'rejected' ? removed : placed) as PromiseRejectedResult;
    expect(refused.reason).toBeInstanceOf(Rejection);
    expect(await isEnded(side, id)).toBe(removed?.status === 'fulfilled');
    outcomes.add(String(removed?.status));
  }
  expect(outcomes.size).toBeGreaterThan(0);
});

test('a held record outlives its folder, and ends after the release', async ({ side, desk }) => {
  const { record, folder, place, release, send, clerk } = desk;
  const folderId = await folder();
  const [held, free] = [await record(clerk, folderId), await record(clerk, folderId)];
  await place(held);
  await send({ type: 'ShredFolder', folderId }, clerk);
  await until(() => isEnded(side, free), Boolean);
  expect(await isEnded(side, held)).toBe(false);
  await release(held);
  await until(() => isEnded(side, held), Boolean);
  const { rows } = await side.pool.query('select stream from process_manager.task where attempts > 0');
  expect(rows).toEqual([]);
  // The release alone ends nothing whose folder is there.
  const other = await record();
  await place(other);
  await release(other);
  const third = await record(clerk, await folder());
  await place(third);
  await release(third);
  expect(await isEnded(side, other)).toBe(false);
});

test('a command of another aggregate cannot end a held record', async ({ desk, side }) => {
  const { record, place, send, clerk, release } = desk;
  const recordId = await record();
  const purgeId = (await send({ type: 'GivePurge', recordId }, clerk)).id;
  await place(recordId);
  await expect(send({ type: 'ExecutePurge', purgeId }, clerk)).rejects.toMatchObject({ code: 'record_held' });
  expect(await isEnded(side, recordId)).toBe(false);
  await release(recordId);
  await send({ type: 'ExecutePurge', purgeId }, clerk);
  expect(await isEnded(side, recordId)).toBe(true);
});

test('the person whose data a held record has is not erased', async ({ desk, side }) => {
  const { person, record, place, release, send } = desk;
  const author = await person('Author', 'clerk');
  const erase = () => send({ type: 'DeleteUser', userId: author.userId });
  const [one, two] = [await record(author), await record(author)];
  await place(one);
  await place(one);
  await place(two);
  await expect(erase()).rejects.toMatchObject({ code: 'user_data_held' });
  await expect(send({ type: 'DeleteUser', userId: author.userId }, author)).rejects.toMatchObject({
    code: 'user_data_held',
  });
  await release(one);
  await release(one, undefined, { holdId: 2 });
  await expect(erase()).rejects.toMatchObject({ code: 'user_data_held' });
  await release(two);
  await erase();
  await until(
    async () => (await side.erasures.read()).some(({ userId }) => userId === author.userId),
    Boolean,
  );
  // Its record is gone too; others of erased persons can still be held.
  const gone = await person('Gone', 'clerk');
  const closed = await record(gone);
  await send({ type: 'CloseRecord', recordId: closed }, gone);
  await send({ type: 'DeleteUser', userId: gone.userId });
  await place(closed);
  await release(closed);
});

test('of an erasure and a hold at the same time, one comes first', async ({ other, desk, side }) => {
  const { person, record, place, send } = desk;
  for (let round = 0; round < 6; round += 1) {
    const author = await person('Author', 'clerk');
    const id = await record(author);
    await send({ type: 'CloseRecord', recordId: id }, author);
    const [erased, placed] = await Promise.allSettled([
      send({ type: 'DeleteUser', userId: author.userId }, undefined, { to: other }),
      place(id),
    ]);
    expect(placed?.status).toBe('fulfilled');
    const types = await typesOf(side, `user-${author.userId}`);
    expect(types.includes('user.deleted')).toBe(erased?.status === 'fulfilled');
    // A hold counts at the person, or found that the person was erased before.
    expect(types.includes('user.itemHeld')).toBe(erased?.status === 'rejected');
  }
});

test('a hold on a person refuses the erasure, until another administrator releases it', async ({ desk }) => {
  const { person, send } = desk;
  const [author, one, two] = [
    await person('Author', 'clerk'),
    await person('One', 'admin'),
    await person('Two', 'admin'),
  ];
  const { userId } = author;
  await send({ type: 'PlaceHoldUser', userId, reason: 'Inquiry' }, one);
  await expect(send({ type: 'DeleteUser', userId }, one)).rejects.toThrow('“Inquiry”');
  await expect(send({ type: 'DeleteUser', userId }, author)).rejects.toMatchObject({
    code: 'user_held',
    message: 'The user is under a hold: it cannot be deleted until the hold is released.',
  });
  const release = (as: Person) =>
    send({ type: 'ReleaseHoldUser', userId, holdId: 1 }, as, { reason: 'Closed' });
  await expect(release(one)).rejects.toMatchObject({ code: 'user_own_hold' });
  await release(two);
  await send({ type: 'DeleteUser', userId }, author);
});

test('an erasure that the log has lost is repeated in spite of a hold', async ({ desk, side }) => {
  const { person, record, place, send } = desk;
  const author = await person('Author', 'clerk');
  const admin = await person('Admin', 'admin');
  const id = await record(author);
  await place(id);
  await send({ type: 'PlaceHoldUser', userId: author.userId, reason: 'Inquiry' }, admin);
  const repeat = (name: string) =>
    side.send({ type: 'DeleteUser', userId: author.userId } as never, by({ kind: 'system', name } as never));
  await expect(repeat('reaction')).rejects.toMatchObject({ code: 'user_held' });
  await repeat('erasure-list');
  expect(await typesOf(side, `user-${author.userId}`)).toContain('user.deleted');
});
