import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import type { StreamName, UserId } from '#kernel/base/brands.ts';
import { policyOf } from '#shared/policy.ts';
import { ALL_PARTS } from '../parts.ts';
import { callAt } from '../test/engines/call-line.ts';
import {
  allRecorded,
  by,
  type CommandDatabase,
  type CommandSide,
  createCommandDatabase,
  Died,
  mortal,
  registerUser,
} from '../test/engines/command-side.ts';
import { temporaryDataDir } from '../test/engines/data-dir.ts';
import { openInbox, PAYOUTS, SIGN } from '../test/engines/inbox.ts';
import { later } from '../test/engines/later.ts';

afterEach(() => {
  vi.useRealTimers();
});

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
const POLICY = policyOf(PAYOUTS);

const openCell = async () => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createCommandDatabase({ masterKey: MASTER_KEY }));
  const side = opening.use(await database.open({ domain: PAYOUTS }));
  const inbox = opening.use(await openInbox(side));
  const resources = opening.move();
  return { database, side, inbox, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

const openTenant = async (side: CommandSide) => {
  const id = (await registerUser(side, { role: 'employee' })) as UserId;
  const employee = { kind: 'user', policy: POLICY, userId: id, role: 'employee' } as const;
  const caller = { ...employee, scopes: new Set(POLICY.scopes), client: null };
  const file = async (): Promise<number> =>
    (await side.send({ type: 'FileClaim', purpose: 'Train', amount: 500 }, by(caller))).id;
  return { id, file };
};

const move = async (from: CommandDatabase, to: CommandDatabase, user: number): Promise<void> => {
  await using folder = await temporaryDataDir();
  const file = join(folder.path, 'streams.txt');
  await writeFile(file, `user-${user}`);
  const environment = { NODE_ENV: 'test', ...from.settings };
  const target = String(to.settings.DATABASE_URL);
  const args = ['log', 'copy', '--to', target, '--streams', file, '--with-owned'];
  const moved = await callAt({ domain: PAYOUTS, parts: ALL_PARTS, environment }, args);
  expect(moved, moved.complaint).toMatchObject({ exit: 0 });
};

const settled = (claim: number) => ({ type: 'transfer.settled', data: { claim, reference: 'T-1' } });

const eventsOf = async ({ eventLog }: CommandSide, stream: string) =>
  (await Array.fromAsync(eventLog.read(stream as StreamName))).flat();

const reservationsIn = async (side: CommandSide): Promise<number> =>
  (await allRecorded(side)).filter(({ type }) => type === 'command.reserved').length;

test('a message is carried out once, also if its claim has moved to another cell since', async () => {
  await using former = await openCell();
  await using cell = await openCell();
  const [moves, stays] = [await openTenant(former.side), await openTenant(former.side)];
  const [claim, other] = [await moves.file(), await stays.file()];
  const ids = { paid: `msg_${randomUUID()}`, other: `msg_${randomUUID()}`, cut: `msg_${randomUUID()}` };
  expect((await former.inbox.post('bank', SIGN.bank(settled(claim), { id: ids.paid }))).status).toBe(200);
  expect((await former.inbox.post('bank', SIGN.bank(settled(other), { id: ids.other }))).status).toBe(200);
  const cut = await moves.file();
  {
    // The command has happened, and the process died before it could record that.
    const wrapLog = mortal((stream) => (stream.startsWith('claim-') ? 'after' : undefined));
    await using dyingSide = await former.database.open({ domain: PAYOUTS, wrapLog });
    await using dying = await openInbox(dyingSide);
    expect((await dying.post('bank', SIGN.bank(settled(cut), { id: ids.cut }))).status).toBe(500);
    expect(dying.logged()).toContain(Died.name);
  }
  await move(former.database, cell.database, moves.id);
  // The reservations of the tenant that stays have not moved.
  expect(await reservationsIn(cell.side)).toBe(2);
  later(3 * 24 * 3_600_000);
  expect(await cell.inbox.post('bank', SIGN.bank(settled(claim), { id: ids.paid }))).toMatchObject({
    status: 200,
    body: { outcome: 'repeated', id: claim },
  });
  expect(await cell.inbox.post('bank', SIGN.bank(settled(cut), { id: ids.cut }))).toMatchObject({
    status: 200,
    body: { outcome: 'done', id: cut },
  });
  for (const each of [claim, cut])
    expect((await eventsOf(cell.side, `claim-${each}`)).map(({ type }) => type)).toEqual([
      'claim.filed',
      'claim.paid',
    ]);
  // With another command, the id is refused there as well.
  expect(await cell.inbox.post('bank', SIGN.bank(settled(cut), { id: ids.paid }))).toMatchObject({
    status: 422,
    body: { code: 'idempotency_key_reused' },
  });
});
