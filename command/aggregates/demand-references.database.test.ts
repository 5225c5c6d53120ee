import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import type { StreamName, Version } from '#kernel/base/brands.ts';
import { domain } from '#kernel/declare/domain.ts';
import { ref, states } from '#kernel/declare/fields.ts';
import { policyOf } from '#shared/policy.ts';
import { by, registerUser, system } from '../../test/engines/command-side.ts';
import { callerIn } from '../../test/engines/policy.ts';
import { test as base } from '../../test/engines/processes.ts';

/** Only its keeper reads a safe, and a key can be asked for while the safe is open. */
const declared = domain({
  name: 'safes',
  roles: ['member'],
  user: { read: { signedIn: true } },
});
const { aggregate, user } = declared;
const safe = aggregate('safe', {
  owner: 'keeper',
  fields: { keeper: ref(user), status: states('open', 'locked') },
  events: {
    built: { creates: [] },
    locked: { sets: { status: 'locked' } },
    scrapped: { ends: true },
  },
  commands: {
    build: { emits: 'built' },
    lock: { emits: 'locked' },
    scrap: { emits: 'scrapped' },
  },
  rights: { read: { signedIn: 'own' }, write: { signedIn: 'own' } },
});
const key = aggregate('key', {
  fields: { safe: ref(safe), other: ref(safe).optional(), bearer: ref(user).optional() },
  events: {
    asked: { creates: ['safe'] },
    moved: { changes: ['safe'] },
    taken: { sets: { bearer: 'caller' } },
    doubled: { computes: ['other'] },
  },
  commands: {
    ask: { emits: 'asked', when: { safe: 'open' }, reads: ['safe'] },
    move: { emits: 'moved', when: { safe: 'open' }, reads: ['safe'] },
    take: { emits: 'taken' },
    double: { emits: ['doubled'], decide: ({ state }) => [['doubled', { other: state.safe }] as const] },
    invent: { emits: ['doubled'], decide: () => [['doubled', { other: 999_999 }] as const] },
  },
  rights: { read: { signedIn: true }, write: { signedIn: true } },
});
const safes = assemble(declared, [safe, key]);
const policy = policyOf(safes);

const test = base
  .extend('sideOptions', { scope: 'file' }, { domain: safes })
  .extend('send', { scope: 'file' }, ({ side }) => {
    return async (command: object, userId?: number): Promise<number> => {
      const caller = userId === undefined ? system : callerIn(policy, { userId, role: 'member' });
      return (await side.send(command as never, by(caller))).id;
    };
  })
  .extend('ada', { scope: 'file' }, ({ side }) => registerUser(side, { role: 'member' as never }))
  .extend('bob', { scope: 'file' }, ({ side }) => registerUser(side, { role: 'member' as never }));

const absent = {
  code: 'invalid_command',
  details: { errors: [{ pointer: '/safeId', detail: 'There is no such safe that you may read.' }] },
};

test('no condition tells anything about a target that the caller may not read', async ({
  ada,
  bob,
  send,
  side,
}) => {
  const build = () => send({ type: 'BuildSafe' }, ada);
  const [open, locked, scrapped, damaged] = [await build(), await build(), await build(), await build()];
  await send({ type: 'LockSafe', safeId: locked }, ada);
  await send({ type: 'ScrapSafe', safeId: scrapped }, ada);
  await side.eventLog.append(`safe-${damaged}` as StreamName, 1 as Version, [
    { id: randomUUID(), type: 'safe.polished', data: {}, metadata: {} } as never,
  ]);
  const own = await send({ type: 'BuildSafe' }, bob);
  const keyId = await send({ type: 'AskKey', safeId: own }, bob);
  for (const safeId of [open, locked, scrapped, damaged, 999_999]) {
    await expect(send({ type: 'AskKey', safeId }, bob), `ask for ${safeId}`).rejects.toMatchObject(absent);
    await expect(send({ type: 'MoveKey', keyId, safeId }, bob)).rejects.toMatchObject(absent);
  }
  await expect(send({ type: 'AskKey', safeId: locked }, ada)).rejects.toMatchObject({
    code: 'safe_not_open',
  });
  await expect(send({ type: 'AskKey', safeId: damaged })).rejects.toMatchObject({ code: 'parked' });
});

test('a reference that the declaration sets needs no right to read its target, which must have existed', async ({
  ada,
  bob,
  send,
}) => {
  const safeId = await send({ type: 'BuildSafe' }, ada);
  const keyId = await send({ type: 'AskKey', safeId }, ada);
  await send({ type: 'DoubleKey', keyId }, bob);
  await send({ type: 'TakeKey', keyId }, bob);
  await expect(send({ type: 'InventKey', keyId }, bob)).rejects.toMatchObject({
    code: 'invalid_command',
    details: { errors: [{ pointer: '/otherId' }] },
  });
});
