import { describe, expect } from 'vitest';
import { follow } from '../../testing/http/event-source.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { until } from '../../testing/until.ts';
import { sharedTest } from '../engines/installation-fixture.ts';
import { nginxMissing, startNginx } from '../engines/nginx.ts';
import { startRole } from '../engines/role-process.ts';

/** The single connection mode with two query processes, each of which knows only its own streams. */
if (nginxMissing !== undefined)
  process.stderr.write(`Two query processes behind the ingress are not tested: ${nginxMissing}.\n`);

const test = sharedTest
  .extend('copies', { scope: 'file' }, async ({ installation: { settings } }, { onCleanup }) => {
    const open = new AsyncDisposableStack();
    onCleanup(() => open.disposeAsync());
    const started = [1, 2].map(() => open.use(startRole('query/main.ts', { ...settings, TRUST_PROXY: '1' })));
    return Promise.all(started.map(async (copy) => String((await copy.logged('Annals is ready.')).url)));
  })
  .extend('nginx', { scope: 'file' }, async ({ copies, installation }, { onCleanup }) => {
    const nginx = await startNginx({ secret: 'between-ingress-and-roles' });
    onCleanup(() => nginx[Symbol.asyncDispose]());
    const { host } = new URL(installation.origin);
    await nginx.lead({ command: [host], auth: [host], query: copies.map((url) => new URL(url).host) });
    return nginx;
  })
  /** A token and its process: its stream cannot be opened elsewhere. */
  .extend('reserveStream', ({ nginx }, { onCleanup }) => {
    const open = new AsyncDisposableStack();
    onCleanup(() => open.disposeAsync());
    return async () => {
      const token = String((await restClientOf(nginx)('PUT', '/graphql')).body);
      const stream = open.use(await follow(`${nginx.url}/graphql?token=${token}`));
      const send = (to: string, operationId: string) =>
        restClientOf({ url: to, fetch })('POST', '/graphql', {
          headers: { 'x-graphql-event-stream-token': token },
          body: { query: 'subscription { articlePublished { type } }', extensions: { operationId } },
        });
      return { token, stream, send };
    };
  });

describe.skipIf(nginxMissing !== undefined)('two query processes behind the ingress', () => {
  test('all operations of one token reach the process with its stream, and many tokens use both', async ({
    copies,
    nginx,
    publishing,
    reserveStream,
  }) => {
    const streams = await Promise.all(Array.from({ length: 20 }, reserveStream));
    expect(new Set(streams.map(({ stream }) => stream.status))).toEqual(new Set([200]));
    for (const { send } of streams) expect((await send(nginx.url, 'by the ingress')).status).toBe(202);
    await publishing.publish('To all of them');
    for (const { stream } of streams)
      await until(
        () => stream.messages.map(({ data }) => (JSON.parse(data) as { id: string }).id),
        (ids) => ids.includes('by the ingress'),
      );
    const places = await Promise.all(
      streams.map(({ send }) => Promise.all(copies.map(async (copy) => (await send(copy, 'direct')).status))),
    );
    expect(new Set(places.map(String))).toEqual(new Set(['202,404', '404,202']));
    for (const { token } of streams) {
      const stopped = await restClientOf(nginx)('DELETE', '/graphql?operationId=direct', {
        headers: { 'x-graphql-event-stream-token': token },
      });
      expect(stopped.status).toBe(200);
    }
  });
});
