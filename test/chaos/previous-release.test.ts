// Takes minutes, so it starts first.
import { Agent, fetch as fetchOf } from 'undici';
import { expect, test } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { operate } from '../engines/installation.ts';
import { nginxMissing } from '../engines/nginx.ts';
import { releaseMissing, unpackRelease } from '../engines/release.ts';
import { PREVIOUS_RELEASE } from '../previous-release.ts';
import { COPIES, type Copies, type Role, startCopies } from './copies.ts';
import { type Failure, LATE_MAX, startLoad } from './steady-load.ts';
import { startReaders } from './steady-readers.ts';

const TEST_MS = scaled(2_400_000);
/** The rounds of every kind of request before the next step. */
const ROUNDS_BETWEEN = 1;
/** Readers of what others write come first: docs/upgrade.md. */
const ORDER: readonly Role[] = ['projector', 'query', 'webhook-dispatcher', 'command', 'auth'];

const missing = releaseMissing(PREVIOUS_RELEASE) ?? nginxMissing;
if (missing !== undefined)
  process.stderr.write(`The upgrade from the previous release is not tried: ${missing}.\n`);

test.skipIf(missing !== undefined)(
  'the previous release is replaced replica by replica under load; only requests that cross the end of its connections fail, and the read model is proven',
  async () => {
    await using before = await unpackRelease(PREVIOUS_RELEASE);
    await using copies = withoutKeepAlive(await startCopies(before.path));
    await using load = await startLoad(copies);
    await using readers = await startReaders(copies);
    await load.untilAnswered(ROUNDS_BETWEEN);
    const stops: Stop[] = [];
    // The previous release reads its tables as well.
    await operate(['projection', 'rebuild'], copies.settings);
    for (const role of ORDER) {
      for (let copy = 0; copy < COPIES; copy += 1) {
        await load.untilAnswered(ROUNDS_BETWEEN);
        // The previous release does not redirect requests while it stops.
        await copies.leadOnly((each, place) => each !== role || place !== copy);
        const began = new Date();
        expect(await copies.restart(role, copy)).toBe(0);
        if (role === 'command') stops.push({ began, ended: new Date() });
        await copies.leadOnly(() => true);
      }
      // Its projectors continued after the first was replaced, and do not write the new columns of these
      // tables.
      if (role === 'projector') await operate(['projection', 'rebuild'], copies.settings);
    }
    await load.untilAnswered(ROUNDS_BETWEEN);
    const { requests, late, failures } = await load.end();
    const { streams, messages, ...read } = await readers.end();
    console.log(
      `upgraded under load; ${requests} requests, ${failures.length} failed, ${late} answered too late; ${messages} messages in ${streams} streams`,
    );
    const crossing = failures.filter(
      (failure) => isCrossing(failure) && stops.some((stop) => isDuring(stop, failure)),
    );
    expect(copies.explain(failures.filter((failure) => !crossing.includes(failure)))).toEqual([]);
    expect(crossing.length, JSON.stringify(crossing)).toBeLessThanOrEqual(COPIES);
    expect(read).toEqual({ failures: [], faults: [] });
    expect(late / requests).toBeLessThan(LATE_MAX);
    expect(await operate(['audit', 'verify'], copies.settings)).toMatch(/^Proven, up to position/m);
    // Like a process of it that dies during the upgrade: it must start with all table changes of this
    // release.
    for (const role of ORDER) expect(await copies.restart(role, 0, before.path)).toBe(0);
  },
  TEST_MS,
);

type Stop = { readonly began: Date; readonly ended: Date };

const isDuring = ({ began, ended }: Stop, { at }: Failure): boolean => at >= began && at <= ended;

/**
 * A request of another role that crosses the closing of a connection by a `command` of the previous release:
 * nobody knows whether it took effect, and the client is asked to retry (docs/upgrade.md).
 */
const isCrossing = ({ what, why }: Failure): boolean => {
  const { status, retryAfter, body } = why as {
    readonly status: number;
    readonly retryAfter: string | null;
    readonly body: unknown;
  };
  const asksForRetry = JSON.stringify(body).includes('"code":"unavailable"');
  if (what === 'POST /graphql') return asksForRetry && /createPost/.test(JSON.stringify(body));
  return asksForRetry && status === 503 && retryAfter !== null && /^POST \/webhooks\/\d+\/test$/.test(what);
};

/** A reload of the ingress closes kept-alive connections, perhaps just when they are used. */
const withoutKeepAlive = (copies: Copies): Copies => {
  const agent = new Agent({ pipelining: 0 });
  return {
    ...copies,
    fetch: ((input: string, init: object) =>
      fetchOf(input, { ...init, dispatcher: agent })) as unknown as typeof fetch,
    async [Symbol.asyncDispose]() {
      await copies[Symbol.asyncDispose]();
      await agent.destroy();
    },
  };
};
