import { expect } from 'vitest';
import { by, system } from '../../test/engines/command-side.ts';
import { test } from '../../test/engines/processes.ts';

test('a registration whose address is taken leaves no key of a person', async ({ side }) => {
  const countKeys = async (): Promise<number | undefined> => {
    const { rows } = await side.pool.query<{ keys: number }>(
      'select count(*) as keys from public.person_key',
    );
    return rows[0]?.keys;
  };
  const register = () =>
    side.send(
      { type: 'RegisterUser', name: 'Ada', email: 'ada@example.org', role: 'author' } as never,
      by(system),
    );
  await register();
  const before = await countKeys();
  await expect(register()).rejects.toMatchObject({ code: 'email_taken' });
  expect(await countKeys()).toBe(before);
});
