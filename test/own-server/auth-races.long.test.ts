import { expect } from 'vitest';
import { inTransaction } from '#shared/database/transaction.ts';
import { endGrantsOfClient } from '../../auth/storage/end-grants.ts';
import { until } from '../../testing/until.ts';
import { type AuthInstance, CALLBACK, ISSUER, registerClient, webClient } from '../engines/auth-database.ts';
import { test } from '../engines/auth-fixture.ts';
import { openBrowser, signInAndAllow } from '../engines/browser.ts';
import {
  type Answer,
  allAtOnce,
  authorizeUrl,
  basic,
  newVerifier,
  obtainCode,
  post,
} from '../engines/oauth.ts';

// Own server: it holds transactions open in the database.

/**
 * Two processes on one database. The tests of auth/storage prove of every kind of single-use value that one of
 * many parallel uses succeeds.
 */
const AT_ONCE = 8;
const USES_MAX = 1_000;
const WAITING_TO_SAVE = `
  select from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into auth.record%'`;

const demandOneSuccess = (answers: readonly Answer[], error: string): Record<string, unknown> => {
  const succeeded = answers.filter(({ status }) => status === 200);
  expect(answers.map(({ status, body }) => body.error ?? status).sort()).toEqual([
    200,
    ...Array(answers.length - 1).fill(error),
  ]);
  return succeeded[0]?.body ?? {};
};

test('one code gives one token, which is revoked because the code was used twice', async ({
  auth,
  other,
  person,
  service,
  web,
}) => {
  const { code, verifier } = await obtainCode(auth, person, { client_id: web.clientId });
  const answers = await allAtOnce([auth, other], AT_ONCE, (instance) =>
    post(instance, '/token', { client_id: web.clientId, code, code_verifier: verifier }),
  );
  const won = demandOneSuccess(answers, 'invalid_grant');
  const { body } = await post(auth, '/token', {
    client_id: web.clientId,
    refresh_token: String(won.refresh_token),
  });
  expect(body.error).toBe('invalid_grant');
  expect((await post(auth, '/introspect', { token: String(won.access_token) }, basic(service))).body).toEqual(
    { active: false },
  );
});

test('a session in use during its sign-out has ended', async ({ auth, other, person, web }) => {
  const url = () =>
    authorizeUrl({
      client_id: web.clientId,
      redirect_uri: CALLBACK,
      code_challenge: newVerifier().challenge,
    });
  const withoutAsking = () => `${url()}&prompt=none`;
  let cookie = '';
  const watched: AuthInstance = {
    ...auth,
    fetch: (input, init) => {
      cookie = new Headers(init?.headers).get('cookie') ?? '';
      return auth.fetch(input, init);
    },
  };
  const browser = openBrowser(watched);
  await signInAndAllow(browser, url(), person);
  const page = await browser.visit(`${ISSUER}/sign-out`);
  const headers = { cookie };
  const redirectOf = async (instance: AuthInstance) =>
    new URL((await instance.fetch(withoutAsking(), { headers })).headers.get('location') ?? '', ISSUER);
  expect((await redirectOf(auth)).searchParams.has('code')).toBe(true);

  let isSignedOut = false;
  const using = allAtOnce([auth, other], AT_ONCE, async (instance) => {
    for (let round = 0; round < USES_MAX && !isSignedOut; round += 1) await redirectOf(instance);
  });
  const answered = await browser.submit(page, { logout: 'yes' });
  isSignedOut = true;
  await using;
  expect(answered.url.pathname).toBe('/sign-out/success');
  for (const instance of [auth, other])
    expect((await redirectOf(instance)).searchParams.get('error')).toBe('login_required');
});

test('a grant that ends while it is extended has ended', async ({ auth, person }) => {
  const { clientId } = await registerClient(auth, webClient);
  const url = (scope: string) =>
    authorizeUrl({
      client_id: clientId,
      redirect_uri: CALLBACK,
      code_challenge: newVerifier().challenge,
      scope,
    });
  const browser = openBrowser(auth);
  await signInAndAllow(browser, url('read:articles'), person);
  const page = await browser.visit(url('read:articles write:articles'));
  expect(page.url.pathname).toMatch(/^\/consent\//);

  // The page loads the grant and must then wait to save it, until the transaction that ends it has committed.
  const allowing = await inTransaction(auth.pool, async (connection) => {
    await endGrantsOfClient(connection, clientId);
    const allowed = browser.submit(page, { decision: 'allow' });
    await until(async () => (await auth.pool.query(WAITING_TO_SAVE)).rowCount === 1, Boolean);
    // Wrapped in an object; otherwise the transaction would await it.
    return { allowed };
  });
  expect((await allowing.allowed).status).toBe(400);
  const { rows } = await auth.pool.query(`select from auth.record where kind = 'Grant' and client_id = $1`, [
    clientId,
  ]);
  expect(rows).toEqual([]);
});
