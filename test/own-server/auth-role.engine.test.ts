import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { runAnnals } from '../annals-process.ts';
import { createDatabase } from '../engines/database.ts';
import { startRole } from '../engines/role-process.ts';

// Own server: it starts single roles.

test('separate roles: auth registers a client through command, and issues a token; production needs a key first', async () => {
  await using database = await createDatabase();
  const port = String(await freePort());
  const settings = {
    NODE_ENV: 'production',
    DATABASE_URL: database.url,
    MASTER_KEY: randomBytes(32).toString('base64'),
    PUBLIC_URL: `http://localhost:${port}`,
    HOST: '127.0.0.1',
  };
  await using command = startRole('command/main.ts', settings);
  const { url: commandUrl } = await command.logged('Listening for commands of other roles.');

  const alone = { ...settings, COMMAND_URL: String(commandUrl), PORT: port };
  const refused = await runAnnals(['auth/main.ts'], alone);
  expect(refused.exit).toBe(1);
  expect(refused.output).toContain('npm run annals -- keys rotate');
  // Repeated deployments must have the same result.
  for (const output of ['The first signing key is created.\n', 'There already is a signing key.\n'])
    expect(await runAnnals(['annals.ts', 'keys', 'rotate', '--first'], settings)).toEqual({
      exit: 0,
      output,
    });

  await using auth = startRole('auth/main.ts', alone);
  await auth.logged('Annals is ready.');
  const metadata = await fetch(`http://127.0.0.1:${port}/.well-known/openid-configuration`);
  expect(await metadata.json()).toMatchObject({ issuer: settings.PUBLIC_URL });
  const { keys } = (await (await fetch(`http://127.0.0.1:${port}/jwks`)).json()) as { keys: unknown[] };
  expect(keys).toHaveLength(1);
  expect(await auth.kill('SIGTERM')).toBe(0);
});
