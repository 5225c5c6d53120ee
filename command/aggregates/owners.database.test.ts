import { expect } from 'vitest';
import { policyOf } from '#shared/policy.ts';
import { by, registerUser, system } from '../../test/engines/command-side.ts';
import { callerIn } from '../../test/engines/policy.ts';
import { test as base } from '../../test/engines/processes.ts';
import { privateHelpdesk } from '../../test/toy/private-helpdesk.ts';

/** Agents open tickets for customers, who may not see each other. */
const policy = policyOf(privateHelpdesk);
const NOBODY = 999_999;

type Role = 'customer' | 'agent' | 'admin';
const test = base
  .extend('sideOptions', { scope: 'file' }, { domain: privateHelpdesk })
  .extend('people', { scope: 'file' }, async ({ side }) => {
    const register = (role: Role) => registerUser(side, { role: role as never });
    return {
      carla: await register('customer'),
      carl: await register('customer'),
      gone: await register('customer'),
      agnes: await register('agent'),
      ada: await register('admin'),
    };
  })
  .extend('send', { scope: 'file' }, ({ side, people }) => {
    const roles = { carla: 'customer', carl: 'customer', gone: 'customer', agnes: 'agent', ada: 'admin' };
    return async (command: object, who?: keyof typeof roles): Promise<number> => {
      const caller =
        who === undefined ? system : callerIn(policy, { userId: people[who], role: roles[who] as never });
      return (await side.send(command as never, by(caller))).id;
    };
  });

const open = (customerId?: number) => ({ type: 'OpenTicket', subject: 'Fire', customerId });
/** Agents may read every user, so nothing is hidden from them. */
const absent = (pointer: string, hidden = ' that you may read') => ({
  code: 'invalid_command',
  details: { errors: [{ pointer, detail: `There is no such user${hidden}.` }] },
});

test('the owner is the caller, unless the declaration lets the caller name another', async ({
  people: { agnes, carl, carla, gone },
  send,
}) => {
  await send(open(), 'carla');
  await send(open(carla), 'carla');
  await send(open(carla), 'agnes');
  await send(open(carla), 'ada');
  await send(open(carla));
  for (const customerId of [carl, agnes, NOBODY])
    await expect(send(open(customerId), 'carla')).rejects.toMatchObject({ code: 'forbidden' });
  await send({ type: 'DeleteUser', userId: gone });
  for (const customerId of [gone, NOBODY])
    await expect(send(open(customerId), 'agnes')).rejects.toMatchObject(absent('/customerId', ''));
});

test('nobody writes in the name of another without a right of its own, whatever else they may do', async ({
  people: { agnes, carl, carla },
  send,
}) => {
  const ticketId = await send(open(), 'carla');
  const post = (authorId?: number) => ({ type: 'PostMessage', ticketId, text: 'Never.', authorId });
  await send(post(), 'carla');
  await send(post(agnes), 'agnes');
  await send(post(carla), 'ada');
  for (const [authorId, who] of [
    [agnes, 'carla'],
    [carl, 'carla'],
    [carla, 'agnes'],
  ] as const)
    await expect(send(post(authorId), who)).rejects.toMatchObject({ code: 'forbidden' });
});

test('a user whom the caller may not read is refused like one that does not exist', async ({
  people: { agnes, carl, carla },
  send,
}) => {
  const ticketId = await send(open(), 'carla');
  const assign = (assigneeId: number) => ({ type: 'ChangeTicket', ticketId, assigneeId });
  for (const assigneeId of [carl, NOBODY])
    await expect(send(assign(assigneeId), 'carla')).rejects.toMatchObject(absent('/assigneeId'));
  await send(assign(agnes), 'carla');
  await send(assign(carla), 'carla');
  const watch = (personId: number) => ({ type: 'AddWatcherTicket', ticketId, personId });
  for (const personId of [carl, NOBODY])
    await expect(send(watch(personId), 'carla')).rejects.toMatchObject(absent('/personId'));
  await send(watch(carl), 'agnes');
  await send(assign(carl), 'agnes');
});
