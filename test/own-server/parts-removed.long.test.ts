// Own server: an installation that is started again with other parts.
import { expect, test } from 'vitest';
import type { PartName } from '#kernel/registry/parts.ts';
import { until } from '../../testing/until.ts';
import { runAnnals } from '../annals-process.ts';
import { openPlace, PROGRAM, PUBLIC_URL, startAt } from '../engines/start-with-parts.ts';

test('a log with webhooks and a proof stays readable without them, and they go on when they are added again', async () => {
  await using place = await openPlace();
  const tokenOf = (sub: number, role: string, scope: string) =>
    place.mint.token({ aud: PUBLIC_URL, sub: String(sub), role, scope });
  const admin = await tokenOf(1, 'admin', 'write:users read:users read:events manage:webhooks');
  const clientAt = (url: string) => async (method: string, path: string, token: string, body?: object) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const read: unknown = text === '' ? undefined : JSON.parse(text);
    return { status: response.status, body: read };
  };
  const register = async (send: ReturnType<typeof clientAt>, name: string): Promise<number> => {
    const user = { name, email: `${name}@example.com`, role: 'customer' };
    return ((await send('POST', '/users', admin, user)).body as { id: number }).id;
  };
  const hookOf = async (send: ReturnType<typeof clientAt>, owner: number): Promise<string> => {
    const token = await tokenOf(owner, 'customer', 'manage:webhooks read:users');
    const hook = { url: 'http://127.0.0.1:9/hooks', eventTypes: ['user.*'] };
    const { status, body } = await send('POST', '/webhooks', token, hook);
    expect(status).toBe(201);
    return `/webhooks/${(body as { id: number }).id}`;
  };

  const operate = async (parts: readonly PartName[], ...args: readonly string[]) => {
    const ran = await runAnnals([PROGRAM, ...args], place.environmentFor(parts));
    expect(ran, ran.output).toMatchObject({ exit: 0 });
    return ran.output;
  };

  type Proof = { readonly log: { cursor: string }; readonly chain: { count: number; cursor: string } };
  /** Waits until the chain has all events. */
  const chainOf = (send: ReturnType<typeof clientAt>) =>
    until(
      async () => (await send('GET', '/audit/status', admin)).body as Proof,
      ({ log, chain }) => log.cursor === chain.cursor,
    );

  let [leaving, staying, chained] = ['', '', { count: 0 }];
  let leaver = 0;
  {
    await using annals = await startAt(place, ['webhooks', 'proof']);
    const send = clientAt(annals.url);
    leaver = await register(send, 'leaving');
    leaving = await hookOf(send, leaver);
    staying = await hookOf(send, await register(send, 'staying'));
    chained = (await chainOf(send)).chain;
  }
  {
    await using annals = await startAt(place, []);
    await operate([], 'projection', 'rebuild');
    const send = clientAt(annals.url);
    expect(await send('GET', staying, admin)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    type Events = readonly { readonly type: string }[];
    const events = await until(
      async () => (await send('GET', '/events', admin)).body as Events,
      (found) => found.length > 0,
    );
    expect(new Set(events.map(({ type }) => type.split('.')[0]))).toEqual(new Set(['user']));
    const types = (await send('GET', '/event-types', admin)).body as readonly { readonly type: string }[];
    expect(types.filter(({ type }) => type.startsWith('webhook.'))).toEqual([]);
    const status = (await send('GET', '/operations', admin)).body as {
      readonly followers: readonly { readonly name: string }[];
    };
    expect(status).not.toHaveProperty('webhooks');
    expect(status.followers.map(({ name }) => name)).not.toContain('webhook-planner');
    expect((await send('DELETE', `/users/${leaver}`, admin)).status).toBe(204);
    // Its webhook ends with it.
    const stream = leaving.slice(1).replace('s/', '-');
    await until(
      () => operate([], 'log', 'show', stream),
      (shown) => shown.includes('webhook.deleted'),
    );
    expect(await send('GET', '/audit/status', admin)).toMatchObject({ status: 404 });
    expect(status.followers.map(({ name }) => name)).not.toContain('chain');
  }
  {
    await using annals = await startAt(place, ['webhooks', 'proof']);
    const send = clientAt(annals.url);
    await operate(['webhooks', 'proof'], 'projection', 'rebuild');
    expect(await send('GET', staying, admin)).toMatchObject({ status: 200, body: { enabled: true } });
    expect((await send('GET', leaving, admin)).status).toBe(404);
    // The chain goes on where it stopped, with the events from the time without it.
    const { count: before } = chained;
    chained = (await chainOf(send)).chain;
    expect(chained.count).toBeGreaterThan(before + 1);
    await operate(['webhooks', 'proof'], 'audit', 'verify');
  }
});
