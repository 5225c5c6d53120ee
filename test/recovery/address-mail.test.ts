import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { migrateLeases, runUnderLease } from '#shared/database/lease/lease.ts';
import { anAddress } from '../engines/account-visit.ts';
import { by, registerUser, system } from '../engines/command-side.ts';
import { test as base } from '../engines/processes.ts';
import { startRole } from '../engines/role-process.ts';
import { startSmtpReceiver } from '../engines/smtp-receiver.ts';

const test = base
  .extend('smtp', { scope: 'file' }, async ({ database: _beside }, { onCleanup }) => {
    const smtp = await startSmtpReceiver();
    onCleanup(() => smtp[Symbol.asyncDispose]());
    return smtp;
  })
  .extend('startAuth', { scope: 'file' }, ({ database: { settings } }) => async (mailUrl: string) => {
    const auth = startRole('auth/main.ts', {
      ...settings,
      MAIL_URL: mailUrl,
      MAIL_FROM: 'annals@example.com',
    });
    await auth.logged('Annals is ready.');
    return auth;
  })
  .extend('user', async ({ side, smtp }) => {
    const [former, next] = [anAddress(), anAddress()];
    const userId = await registerUser(side, { email: former });
    return {
      userId,
      changeAddress: () => side.send({ type: 'UpdateUser', userId, email: next }, by(system)),
      untilDelivered: async () => {
        expect((await smtp.mailTo(former)).subject).toBe('Your e-mail address was changed');
        expect((await smtp.mailTo(next)).subject).toBe('Your account now has this e-mail address');
      },
    };
  });

/** A mail server that accepts connections but never answers. */
const startDeafServer = async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on('error', () => {}))).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connected: once(server, 'connection'),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

test('if a process is killed while it mails about a changed address, the next one sends the mail', async ({
  side,
  smtp,
  startAuth,
  user: { userId, changeAddress, untilDelivered },
}) => {
  await using deaf = await startDeafServer();
  await using killed = await startAuth(deaf.url);
  await changeAddress();
  await deaf.connected;
  await killed.kill('SIGKILL');
  await using _next = await startAuth(smtp.url);
  // The mail is due again only after a while, because the process that took it could be alive.
  await side.pool.query('update auth.address_mail set due_at = clock_timestamp() where user_id = $1', [
    userId,
  ]);
  await untilDelivered();
});

test('mail about a changed address is sent even while a process of the former release follows the log for the directory', async ({
  side,
  smtp,
  startAuth,
  user: { changeAddress, untilDelivered },
}) => {
  const stopping = new AbortController();
  await migrateLeases(side.pool);
  const held = Promise.withResolvers<void>();
  const holding = runUnderLease(
    { pool: side.pool, name: 'auth-directory', clock: REAL_TIME, onFailure: held.reject },
    async ({ signal }) => {
      held.resolve();
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    },
    stopping.signal,
  );
  await held.promise;
  await using _auth = await startAuth(smtp.url);
  await changeAddress();
  await untilDelivered();
  stopping.abort();
  await holding;
});
