import { describe, expect } from 'vitest';
import { type AuthInstance, ISSUER, registerClient } from '../engines/auth-database.ts';
import { test as base, type Client } from '../engines/auth-fixture.ts';
import { DEVICE_GRANT, enterUserCode, post, startDevice } from '../engines/oauth.ts';

// Own server: it turns the clock of polling forward in the database.

const DEVICE = {
  grantTypes: [DEVICE_GRANT, 'refresh_token'],
  scopes: ['read:articles'],
  defaultScopes: ['read:articles'],
};
const test = base
  .extend('device', { scope: 'file' }, ({ auth }) => registerClient(auth, DEVICE))
  .extend(
    'poll',
    ({ device }) =>
      (instance: AuthInstance, deviceCode: string, { clientId }: Client = device) =>
        post(instance, '/token', { client_id: clientId, device_code: deviceCode }),
  )
  .extend(
    'startDevice',
    ({ auth, device }) =>
      () =>
        startDevice(auth, device.clientId),
  );

/** Simulates the wait of the device. */
const waited = async (auth: AuthInstance, seconds: number) => {
  await auth.pool.query(`update auth.device_poll set polled_at = polled_at - $1 * interval '1 second'`, [
    seconds,
  ]);
};

test('a device gets everything that it needs (RFC 8628, 3.2)', async ({ auth, device }) => {
  const { status, body } = await post(auth, '/device_authorization', { client_id: device.clientId });
  expect(status).toBe(200);
  expect(body).toEqual({
    device_code: expect.stringMatching(/^[\w-]{43}$/),
    user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
    verification_uri: `${ISSUER}/device`,
    verification_uri_complete: `${ISSUER}/device?user_code=${body.user_code}`,
    expires_in: 600,
    interval: 5,
  });
});

describe('/device_authorization is refused', () => {
  test('to a client that is not registered for it', async ({ auth, web }) => {
    const { status, body } = await post(auth, '/device_authorization', { client_id: web.clientId });
    expect([status, body.error]).toEqual([400, 'unauthorized_client']);
  });

  test('without a client', async ({ auth }) => {
    const { status, body } = await post(auth, '/device_authorization', {});
    expect([status, body.error]).toEqual([401, 'invalid_client']);
  });

  test('for a scope that the client lacks', async ({ auth, device }) => {
    const { status, body } = await post(auth, '/device_authorization', {
      client_id: device.clientId,
      scope: 'write:articles',
    });
    expect([status, body.error]).toEqual([400, 'invalid_scope']);
  });
});

test('a device gets its token once its code was confirmed, and can refresh it', async ({
  auth,
  device,
  person,
  poll,
  startDevice,
}) => {
  const { device_code: deviceCode, user_code: userCode } = await startDevice();
  expect((await poll(auth, deviceCode)).body.error).toBe('authorization_pending');
  const page = await enterUserCode(auth, person, userCode.toLowerCase().replace('-', ' '));
  expect(page.body).toContain('The device is connected');
  await waited(auth, 5);
  const { status, body } = await poll(auth, deviceCode);
  expect([status, body.scope]).toEqual([200, 'read:articles']);
  expect(
    (await post(auth, '/token', { client_id: device.clientId, refresh_token: String(body.refresh_token) }))
      .status,
  ).toBe(200);
});

test('a device that polls too fast must slow down, at every process', async ({
  auth,
  other,
  poll,
  startDevice,
}) => {
  const { device_code: deviceCode } = await startDevice();
  expect((await poll(auth, deviceCode)).body.error).toBe('authorization_pending');
  expect((await poll(other, deviceCode)).body.error).toBe('slow_down');
  // From then on it must wait five more seconds (RFC 8628, 3.5).
  await waited(auth, 6);
  expect((await poll(auth, deviceCode)).body.error).toBe('slow_down');
  await waited(auth, 16);
  expect((await poll(other, deviceCode)).body.error).toBe('authorization_pending');
});

test('a device need not slow down after the clock of the database was set back', async ({
  auth,
  poll,
  startDevice,
}) => {
  const { device_code: deviceCode } = await startDevice();
  expect((await poll(auth, deviceCode)).body.error).toBe('authorization_pending');
  await waited(auth, -3_600);
  expect((await poll(auth, deviceCode)).body.error).toBe('authorization_pending');
});

test('a device learns of a refusal', async ({ auth, person, poll, startDevice }) => {
  const { device_code: deviceCode, user_code: userCode } = await startDevice();
  await enterUserCode(auth, person, userCode, 'abort');
  expect((await poll(auth, deviceCode)).body.error).toBe('access_denied');
});

test('a device learns that its code has expired', async ({ auth, poll, startDevice }) => {
  const { device_code: deviceCode } = await startDevice();
  const now = Date.now;
  Date.now = () => now() + 601_000;
  try {
    expect((await poll(auth, deviceCode)).body.error).toBe('expired_token');
  } finally {
    Date.now = now;
  }
});

test.for([
  ['made up', 'made-up'],
  ['missing', ''],
])('a device code that is %s is refused', async ([, code = ''], { auth, device }) => {
  const { status } = await post(auth, '/token', {
    grant_type: DEVICE_GRANT,
    client_id: device.clientId,
    device_code: code,
  });
  expect(status).toBe(400);
});

test('a device code of another client is refused', async ({ auth, poll, startDevice }) => {
  const twin = await registerClient(auth, DEVICE);
  const { device_code: deviceCode } = await startDevice();
  expect((await poll(auth, deviceCode, twin)).body.error).toBe('invalid_grant');
});
