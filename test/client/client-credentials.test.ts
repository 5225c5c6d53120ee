import { expect, test } from 'vitest';
import { createClient } from '../../client/client.ts';
import { clientCredentials } from '../../client/sign-in/client-credentials.ts';
import { expenses } from '../../examples/expenses/domain/domain.ts';
import { openPeople } from '../../testing/http/people.ts';
import { startInstallation } from '../engines/installation.ts';
import { startRole } from '../engines/role-process.ts';

/** A service and a whole system, which is killed before the service has its token. */
const MAIN = 'test/toy/example-main.ts';
const COUNT = 20;
/** A busy machine takes long to start a system. */
const retryForMs = 110_000;

test('a service signs in once for all its requests, even while the server is killed and restarted', async () => {
  await using installation = await startInstallation({
    ownProcess: true,
    of: { domain: expenses, main: MAIN },
  });
  const { origin: url } = installation;
  const people = await openPeople(installation);
  let tokens = 0;
  const counting = async (input: string, init: RequestInit) => {
    const response = await fetch(input, init);
    if (response.ok) tokens++;
    return response;
  };
  const { clientId, secret: clientSecret } = installation.admin;
  const session = clientCredentials({ url, clientId, clientSecret, fetch: counting, retryForMs });
  const service = createClient<typeof expenses>({ url, token: session, retryForMs });
  const { userId: approverId } = await people.signUp('Abel');

  await installation.query[0]?.kill('SIGKILL');
  const names = Array.from({ length: COUNT }, (_, index) => `Team ${String(index).padStart(2, '0')}`);
  const creating = Promise.all(names.map((name) => service.teams.create({ name, approverId, budget: 1 })));
  await using _serving = startRole(MAIN, { ...installation.settings, PORT: new URL(url).port });
  const created = await creating;
  expect(new Set(created.map(({ id }) => id)).size).toBe(COUNT);
  const listed = await Array.fromAsync(service.teams.list());
  expect(listed.map(({ name }) => name).toSorted()).toEqual(names);
  expect(tokens).toBe(1);

  const bound = createClient<typeof expenses>({
    url,
    token: clientCredentials({ url, clientId, clientSecret, dpop: true }),
  });
  const renamed = await bound.teams.edit(created[0]?.id ?? 0, { name: 'Team of a key' });
  expect(await bound.teams.get(renamed.id)).toMatchObject({ name: 'Team of a key' });

  const wrong = clientCredentials({ url, clientId, clientSecret: `${clientSecret}x` });
  await expect(
    createClient<typeof expenses>({ url, token: wrong }).teams.list().take(1),
  ).rejects.toMatchObject({
    code: 'invalid_client',
    status: 401,
  });
});
