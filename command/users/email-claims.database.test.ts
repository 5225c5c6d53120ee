import { afterEach, expect, vi } from 'vitest';
import type { StreamName, UserId } from '#kernel/base/brands.ts';
import {
  allEvents,
  as,
  by,
  type CommandSide,
  Died,
  mortal,
  registerUser,
  system,
} from '../../test/engines/command-side.ts';
import { later } from '../../test/engines/later.ts';
import { test } from '../../test/engines/processes.ts';

afterEach(() => {
  vi.useRealTimers();
});

const register = (on: CommandSide, email: string) =>
  on.send({ type: 'RegisterUser', name: 'Ada', email, role: 'author' }, by(system));

test('an address belongs to one user, in any spelling', async ({ other, side }) => {
  await register(side, 'ada@example.com');
  for (const email of ['ada@example.com', 'ADA@Example.COM']) {
    await expect(register(other, email)).rejects.toMatchObject({ code: 'email_taken' });
  }
  await registerUser(side, { email: null });
  await registerUser(side, { email: null });
});

test('of parallel registrations in two processes, one gets the address', async ({ other, side }) => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, (_, n) => register(n % 2 ? side : other, 'parallel@example.com')),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'email_taken' });
  }
});

test('a user who changes the address frees the old one, and may change back', async ({ other, side }) => {
  const userId = await registerUser(side, { email: 'old@example.com' });
  const change = (email: string | null) => side.send({ type: 'UpdateUser', userId, email }, by(system));
  await change('new@example.com');
  await expect(register(other, 'new@example.com')).rejects.toMatchObject({ code: 'email_taken' });
  await change('old@example.com');
  await register(other, 'new@example.com');
  await expect(change('new@example.com')).rejects.toMatchObject({ code: 'email_taken' });
  await change(null);
  await register(other, 'old@example.com');
});

test('another spelling of one’s own address is no conflict', async ({ other, side }) => {
  const userId = await registerUser(side, { email: 'case@example.com' });
  await side.send({ type: 'UpdateUser', userId, email: 'Case@example.com' }, by(system));
  await expect(register(other, 'case@example.com')).rejects.toMatchObject({ code: 'email_taken' });
});

test('an address that only looks like a taken one is taken', async ({ other, side }) => {
  await register(side, 'alike@example.com');
  for (const email of ['\uff41like@example.com', '\u{1d41a}LIKE@example.com', 'alike@\uff25xample.com'])
    await expect(register(other, email)).rejects.toMatchObject({ code: 'email_taken' });
  await register(other, 'o\ufb03ce@example.com');
  await expect(register(side, 'office@example.com')).rejects.toMatchObject({ code: 'email_taken' });
});

test('an address that an earlier release has registered stays with its user', async ({ database, other }) => {
  const former = '\uff41da.former@example.com';
  // The former release claims the address as it is spelled, and nothing else.
  const claimed = new Set<StreamName>();
  await using earlier = await database.open({
    wrapLog: (log) => ({
      ...log,
      append(stream, expected, events) {
        if (stream.startsWith('email-')) claimed.add(stream);
        const isLookAlike = claimed.size === 1 && claimed.has(stream);
        return log.append(isLookAlike ? (`${stream}-unclaimed` as StreamName) : stream, expected, events);
      },
    }),
  });
  const { id } = await register(earlier, former);
  expect(claimed.size).toBe(2);
  await expect(register(other, former)).rejects.toMatchObject({ code: 'email_taken' });
  // The claim of the present release follows with the next change of the address.
  const change = { type: 'UpdateUser', userId: id as UserId, email: 'ada.former@example.com' } as const;
  await other.send(change, by(system));
  for (const email of ['ada.former@example.com', former])
    await expect(register(other, email)).rejects.toMatchObject({ code: 'email_taken' });
});

test('a deleted user’s address is free', async ({ other, side }) => {
  const userId = await registerUser(side, { email: 'leaving@example.com' });
  await side.send({ type: 'DeleteUser', userId }, by(as(userId)));
  await register(other, 'leaving@example.com');
});

test('an unused claim, after a crash before the registration, is released', async ({
  database,
  other,
  side,
}) => {
  {
    await using dying = await database.open({
      wrapLog: mortal((stream) => (stream.startsWith('user-') ? 'before' : undefined)),
    });
    await expect(register(dying, 'crashed@example.com')).rejects.toThrow(Died);
  }
  later();
  const { id } = await register(other, 'crashed@example.com');
  await expect(register(side, 'crashed@example.com')).rejects.toMatchObject({ code: 'email_taken' });
  const registered = (await allEvents(side)).filter(
    (event) => event.type === 'user.registered' && event.data.email === 'crashed@example.com',
  );
  expect(registered.map(({ stream }) => stream)).toEqual([`user-${id}`]);
});

test('a slow registration whose claim was released takes another id or is refused', async ({
  database,
  other,
  side,
}) => {
  const { promise: waiting, resolve: goOn } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  await using slow = await database.open({
    wrapLog: (log) => ({
      ...log,
      async append(stream, expected, events) {
        if (stream.startsWith('user-')) {
          reach();
          await waiting;
        }
        return log.append(stream, expected, events);
      },
    }),
  });
  const late = register(slow, 'slow@example.com');
  const outcome = expect(late).rejects.toMatchObject({ code: 'email_taken' });
  await reached;
  later();
  await register(other, 'slow@example.com');
  goOn();
  await outcome;
  const holders = (await allEvents(side)).filter(
    (event) => event.type === 'user.registered' && event.data.email === 'slow@example.com',
  );
  expect(holders).toHaveLength(1);
});

test('the log contains no address in clear', async ({ side }) => {
  await register(side, 'secret.address@example.com');
  const { rows } = await side.pool.query(
    'select 1 from event_log.event where stream || data::text || metadata::text ilike $1',
    ['%secret.address%'],
  );
  expect(rows).toEqual([]);
});
