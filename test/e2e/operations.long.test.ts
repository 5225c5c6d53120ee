import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { StreamName } from '#kernel/base/brands.ts';
import { openConfiguredEventLog } from '#process/engines/open-event-log.ts';
import { openAuthenticEvents } from '#shared/authentic-events/authentic-events.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool } from '#shared/database/pool.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import type { OperatorCommand } from '#shared/rest/operator.ts';
import type { Person } from '../../testing/http/people.ts';
import { until } from '../../testing/until.ts';
import { ourEvent } from '../engines/authentic-log.ts';
import { test as base } from '../engines/installation-fixture.ts';

/** An operator, signed in at the console that every installation has. */

const test = base
  // Without TLS in a network of its own, and not on the machine of its user.
  .extend('installationOptions', { scope: 'file' }, () => ({
    settings: { PUBLIC_URL: 'http://annals.internal' },
  }))
  .extend('atConsole', { scope: 'file' }, ({ installation, people }) => (person: Person) => {
    return people.signInAt({ clientId: 'console', redirectUri: `${installation.url}/console` }, person);
  })
  .extend('operator', { scope: 'file' }, async ({ ask, atConsole, people }) => {
    const { token } = people.administrator;
    const grace = await people.signUp('Grace');
    await ask('PATCH', `/users/${grace.userId}`, { token, body: { role: 'admin' } });
    await people.signIn(grace, 'admin');
    return atConsole(grace);
  })
  .extend('get', { scope: 'file' }, ({ ask, operator }) => async <Body>(path: string): Promise<Body> => {
    return (await ask('GET', path, { token: operator.token })).body as Body;
  })
  .extend(
    'give',
    { scope: 'file' },
    ({ ask, operator }) =>
      async (path: string, body?: object, key?: string) => {
        const answer = await ask('POST', path, {
          token: operator.token,
          body,
          ...(key && { headers: { 'idempotency-key': key } }),
        });
        expect(answer).toMatchObject({ status: 202, body: { by: `user:${operator.userId}` } });
        return answer.headers.get('location') ?? '';
      },
  )
  .extend('finished', { scope: 'file' }, ({ get }) => (location: string) => {
    return until(
      () => get<OperatorCommand>(location),
      ({ finishedAt }) => finishedAt !== null,
      60_000,
    );
  })
  /** An article that is unreadable, because of an event of a later release. */
  .extend('parkArticle', { scope: 'file' }, ({ ada, ask, installation }) => async (): Promise<StreamName> => {
    const made = await ask('POST', '/articles', {
      token: ada.token,
      body: { title: 'On engines', body: '', tags: [] },
    });
    const stream = `article-${(made.body as { id: number }).id}` as StreamName;
    const { DATABASE_URL: databaseUrl = '', EVENT_LOG_URL: eventLogUrl, MASTER_KEY } = installation.settings;
    const masterKey = parseMasterKey(String(MASTER_KEY));
    await using pool = openPool({ url: databaseUrl, applicationName: 'test', connectionsMax: 1 });
    const lines = { info() {}, warn() {}, error() {} };
    await using authentic = openAuthenticEvents({
      pool,
      masterKey,
      clock: REAL_TIME,
      log: lines,
      isReader: true,
    });
    await using log = await openConfiguredEventLog({ eventLogUrl, databaseUrl, clock: REAL_TIME, authentic });
    await log.append(stream, 'any', [ourEvent({}, 'article.engraved')]);
    return stream;
  });

test('a parked item is shown, retried, and skipped; then everything is proven', async ({
  ada,
  ask,
  finished,
  get,
  give,
  parkArticle,
}) => {
  const stream = await parkArticle();
  const [parked] = await until(
    () => get<{ stream: string; version: number }[]>('/operations/parked'),
    ({ length }) => length > 0,
  );
  expect(parked).toMatchObject({ stream, version: 2, type: 'article.engraved', reason: expect.any(String) });
  expect(await get('/operations')).toMatchObject({
    readModel: { parked: 1, skipped: 0, isOfThisRelease: true },
  });

  const retried = await finished(await give(`/operations/parked/${stream}/retry`));
  expect(retried).toMatchObject({
    kind: 'retry',
    stream,
    state: 'failed',
    outcome: expect.stringContaining('stays parked'),
  });

  const key = randomUUID();
  const released = await give(`/operations/parked/${stream}/release`, { version: 2 }, key);
  expect(await finished(released)).toMatchObject({ kind: 'release', stream, version: 2, state: 'done' });
  // A retry after the connection ended before the answer.
  expect(await give(`/operations/parked/${stream}/release`, { version: 2 }, key)).toBe(released);
  expect(await get('/operations/parked')).toEqual([]);
  expect(
    (await ask('GET', `/articles/${stream.slice('article-'.length)}`, { token: ada.token })).status,
  ).toBe(200);

  const verified = await finished(await give('/audit/verifications'));
  expect(verified).toMatchObject({
    kind: 'verify',
    state: 'done',
    report: { outcome: 'proven', leftOut: { total: 1 } },
  });
  expect((await get<OperatorCommand[]>('/operations/orders')).map(({ kind }) => kind)).toEqual([
    'verify',
    'release',
    'retry',
  ]);
});

test('the state of the installation is shown, and was recorded', async ({ get }) => {
  const status = await get<{ followers: { name: string; isRunning: boolean }[] }>('/operations');
  const running = status.followers.filter(({ isRunning }) => isRunning).map(({ name }) => name);
  expect(running).toEqual(
    expect.arrayContaining(['chain', 'cover-remover', 'process-manager', 'projector', 'webhook-planner']),
  );
  const { samples } = await until(
    () => get<{ samples: object[] }>('/operations/samples'),
    ({ samples }) => samples.length > 1,
    30_000,
  );
  expect(samples.at(-1)).toMatchObject({
    events: expect.any(Number),
    followers: { projector: expect.any(Number) },
    dead: 0,
  });
});

test('the console continues with its refresh token, and shows no operations to others', async ({
  ada,
  ask,
  atConsole,
  operator,
}) => {
  const form = new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: 'console',
    refresh_token: operator.refreshToken,
  });
  const { status, body } = await ask('POST', '/token', {
    body: form.toString(),
    type: 'application/x-www-form-urlencoded',
  });
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({ scope: expect.stringContaining('manage:operations') }),
  ]);

  const { token } = await atConsole(ada);
  for (const path of ['/operations', '/operations/parked', '/operations/samples', '/operations/orders'])
    expect(await ask('GET', path, { token })).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  expect((await ask('POST', '/audit/verifications', { token })).status).toBe(403);
});

test('nobody can change or delete the console', async ({ ask, get, installation, operator }) => {
  const token = operator.token;
  expect(await get('/clients/console')).toMatchObject({
    clientId: 'console',
    redirectUris: [`${installation.url}/console`],
  });
  for (const attempt of [
    ask('PATCH', '/clients/console', { token, body: { disabled: true } }),
    ask('DELETE', '/clients/console', { token }),
  ])
    expect(await attempt).toMatchObject({ status: 409, body: { code: 'client_built_in' } });
});
