import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { type HttpServer, startHttpServer } from '#edge/http/server.ts';
import { loadConfig } from '#process/load-config.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { type Reply, restClientOf } from '../../testing/http/rest-client.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { type Nginx, nginxMissing, startNginx } from '../engines/nginx.ts';
import { captureLog } from '../serve.ts';

/** Only the ingress and servers in the place of the roles, so that very many restarts can be tried. */
if (nginxMissing !== undefined)
  process.stderr.write(`Restarts behind the ingress are not tried: ${nginxMissing}.\n`);

/** As in production. */
const NOTICE_MS = 2_000;
const RESTARTS = 8;
const CLIENTS = 8;
const TEST_MS = scaled(600_000);
/** Longer than tests that only send requests during the stop. */
const LONG_NOTICE_MS = 10_000;

describe.skipIf(nginxMissing !== undefined)('a server that is restarted behind the ingress', () => {
  test(
    'loses no request that must not be repeated, and handles none twice',
    async () => {
      await using site = await startSite(2);
      await using load = startLoad(site);
      for (let restart = 0; restart < RESTARTS; restart += 1) {
        await site.restart(restart % 2);
        await load.untilAnswered(50);
      }
      const { sent, failures } = await load.end();
      expect(failures).toEqual([]);
      expect(site.done().toSorted()).toEqual(sent.toSorted());
    },
    TEST_MS,
  );

  test(
    'finishes its work if it is the only one',
    async () => {
      await using site = await startSite(1);
      const request = restClientOf(site.nginx);
      const stopping = site.leave(0, LONG_NOTICE_MS);
      expect(await request('POST', '/articles', { body: '1' })).toMatchObject({
        status: 200,
        body: 'done by 0',
      });
      expect(await request('GET', '/articles/1')).toMatchObject({ status: 200 });
      await stopping;
      expect(await request('POST', '/articles', { body: '2' })).toMatchObject({
        status: 503,
        body: { code: 'unavailable' },
      });
    },
    TEST_MS,
  );

  test(
    'and if all of them stop',
    async () => {
      await using site = await startSite(2);
      const request = restClientOf(site.nginx);
      const stopping = [site.leave(0, LONG_NOTICE_MS), site.leave(1, LONG_NOTICE_MS)];
      for (let count = 0; count < 6; count += 1)
        expect(await request('POST', '/articles', { body: '1' })).toMatchObject({ status: 200 });
      await Promise.all(stopping);
    },
    TEST_MS,
  );

  test(
    'continues requests of a stream and uploads, which only it can serve',
    async () => {
      await using site = await startSite(2);
      const request = restClientOf(site.nginx);
      const stopping = [site.leave(0, LONG_NOTICE_MS), site.leave(1, LONG_NOTICE_MS)];
      const headers = { 'x-graphql-event-stream-token': 'token' };
      expect(await request('POST', '/graphql', { headers, body: '{}' })).toMatchObject({ status: 200 });
      expect(await request('PUT', '/articles/1/cover', { body: 'picture', type: 'image/png' })).toMatchObject(
        { status: 200 },
      );
      expect(
        await request('POST', '/graphql', { body: 'x', type: 'multipart/form-data; boundary=x' }),
      ).toMatchObject({ status: 200 });
      await Promise.all(stopping);
    },
    TEST_MS,
  );
});

type Site = AsyncDisposable & {
  readonly nginx: Nginx;
  /** The bodies of handled requests. */
  done(): readonly string[];
  leave(copy: number, noticeMs: number): Promise<void>;
  restart(copy: number): Promise<void>;
};

const startSite = async (count: number): Promise<Site> => {
  await using opening = new AsyncDisposableStack();
  const nginx = opening.use(await startNginx({ secret: 'secret-between-ingress-and-roles' }));
  const done: string[] = [];
  const asked = new Set<number>();
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const start = (copy: number): Promise<HttpServer> =>
    startHttpServer({
      async handler(request, response) {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        done.push(String(Buffer.concat(chunks)));
        asked.add(copy);
        response.end(`done by ${copy}`);
      },
      listener: { port: ports[copy] ?? 0, host: '127.0.0.1' },
      setting: 'PORT',
      limits: loadConfig({}).limits,
      clock: REAL_TIME,
      drainMs: 8_000,
      lingerMs: () => 2_500,
      log: captureLog().log,
    });
  const servers = await Promise.all(ports.map((_, copy) => start(copy)));
  opening.defer(async () => void (await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))));
  const addresses = ports.map((port) => `127.0.0.1:${port} max_fails=1 fail_timeout=1s`);
  await nginx.lead({ command: addresses, query: addresses, auth: addresses });
  const leave = async (copy: number, noticeMs: number): Promise<void> => {
    servers[copy]?.leave();
    await delay(noticeMs);
    await servers[copy]?.[Symbol.asyncDispose]();
  };
  const resources = opening.move();
  return {
    nginx,
    done: () => done,
    leave,
    async restart(copy) {
      await leave(copy, NOTICE_MS);
      asked.delete(copy);
      servers[copy] = await start(copy);
      // The ingress must use this one again before the next is restarted.
      await until(() => asked.has(copy), Boolean, 60_000);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const startLoad = ({ nginx }: Site) => {
  const request = restClientOf(nginx);
  const sent: string[] = [];
  const failures: unknown[] = [];
  const ending = new AbortController();
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let count = 0; !ending.signal.aborted; count += 1) {
      const body = `${client} ${count}`;
      sent.push(body);
      const { status } = await request('POST', '/articles', { body }).catch(
        (error: Error): Partial<Reply> => {
          failures.push(String(error.cause ?? error));
          return {};
        },
      );
      if (status !== 200) failures.push(status);
    }
  });
  const stop = async () => {
    ending.abort();
    await Promise.all(clients);
  };
  return {
    async untilAnswered(more: number) {
      const target = sent.length + more;
      await until(() => sent.length >= target, Boolean, TEST_MS);
    },
    async end() {
      await stop();
      return { sent, failures };
    },
    [Symbol.asyncDispose]: stop,
  };
};
