import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { UserId } from '#shared/brands.ts';
import { migrateLeases, runUnderLease } from '#shared/database/lease/lease.ts';
import { anAddress } from '../engines/account-visit.ts';
import {
  by,
  type CommandSide,
  createCommandDatabase,
  registerUser,
  system,
} from '../engines/command-side.ts';
import { startRole } from '../engines/role-process.ts';
import { type SmtpReceiver, startSmtpReceiver } from '../engines/smtp-receiver.ts';

const resources = new AsyncDisposableStack();
let side: CommandSide;
let smtp: SmtpReceiver;
let startAuth: (mailUrl: string) => Promise<ReturnType<typeof startRole>>;
beforeAll(async () => {
  const database = resources.use(await createCommandDatabase());
  side = resources.use(await database.open());
  smtp = resources.use(await startSmtpReceiver());
  startAuth = async (mailUrl) => {
    const auth = startRole('auth/main.ts', {
      ...database.settings,
      MAIL_URL: mailUrl,
      MAIL_FROM: 'annals@example.com',
    });
    await auth.logged('Annals is ready.');
    return auth;
  };
});
afterAll(() => resources.disposeAsync());

let userId: UserId;
let [former, next] = ['', ''];
beforeEach(async () => {
  [former, next] = [anAddress(), anAddress()];
  userId = await registerUser(side, { email: former });
});
const changeAddress = () => side.send({ type: 'UpdateUser', userId, email: next }, by(system));
const untilDelivered = async () => {
  expect((await smtp.mailTo(former)).subject).toBe('Your e-mail address was changed');
  expect((await smtp.mailTo(next)).subject).toBe('Your account now has this e-mail address');
};

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

test('if a process is killed while it mails about a changed address, the next one sends the mail', async () => {
  await using deaf = await startDeafServer();
  await using killed = await startAuth(deaf.url);
  await changeAddress();
  await deaf.connected;
  await killed.kill('SIGKILL');
  await using _next = await startAuth(smtp.url);
  // It is due again only after a while, because the process that took it could be alive.
  await side.pool.query('update auth.address_mail set due_at = clock_timestamp() where user_id = $1', [
    userId,
  ]);
  await untilDelivered();
});

test('mail about a changed address is sent even while a process of the former release follows the log for the directory', async () => {
  const stopping = new AbortController();
  await migrateLeases(side.pool);
  const held = Promise.withResolvers<void>();
  const holding = runUnderLease(
    { pool: side.pool, name: 'auth-directory', onFailure: held.reject },
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
