import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Way } from './engines.ts';
import type { Copy, Site } from './site.ts';
import type { Role } from './supervised.ts';

/** A fault for a while; resolves once it is repaired. */
export type Strike = (site: Site, random: () => number) => Promise<void>;
export type Victims = (site: Site, random: () => number) => readonly Copy[];
type Ways = (site: Site, random: () => number) => readonly Way[];
type While = (random: () => number) => Promise<void>;

const AWAY_MS_MIN = 800;
const AWAY_MS_MAX = 4_500;
/** Long enough that a stopped leader has lost its lease when it resumes. */
const LONGER_THAN_A_LEASE_MS = 7_000;

export const aWhile: While = (random) => delay(AWAY_MS_MIN + random() ** 2 * (AWAY_MS_MAX - AWAY_MS_MIN));
export const longerThanALease: While = () => delay(LONGER_THAN_A_LEASE_MS);

export const copiesOf = (site: Site, role: Role): readonly Copy[] =>
  site.copies.filter((copy) => copy.role === role);
export const oneOf = <Each>(all: readonly Each[], random: () => number): readonly Each[] => {
  const place = Math.floor(random() * all.length);
  return all.slice(place, place + 1);
};

export const kill =
  (victims: Victims): Strike =>
  async (site, random) =>
    void (await Promise.all(victims(site, random).map(({ process }) => process.end('SIGKILL'))));

export const restart =
  (victims: Victims): Strike =>
  async (site, random) =>
    void (await Promise.all(victims(site, random).map(({ process }) => process.end('SIGTERM'))));

export const stop =
  (victims: Victims, lasts = aWhile): Strike =>
  async (site, random) => {
    const processes = victims(site, random).map(({ process }) => process);
    for (const process of processes) process.pause();
    await lasts(random);
    for (const process of processes) process.resume();
  };

export const disturb =
  (how: 'cut' | 'stall', ways: Ways, lasts = aWhile): Strike =>
  async (site, random) => {
    const disturbed = ways(site, random);
    for (const way of disturbed) way[how]();
    await lasts(random);
    for (const way of disturbed) way.mend();
  };

type Engine = 'kafka' | 'redis' | 'eventStore';

export const killEngine =
  (engine: Engine): Strike =>
  async ({ engines }) => {
    await engines[engine]?.kill();
    await engines[engine]?.start();
  };

export const stopEngine =
  (engine: Engine | 'postgres'): Strike =>
  async ({ engines }, random) => {
    await engines[engine]?.pause();
    await aWhile(random);
    await engines[engine]?.resume();
  };

export const flush: Strike = async ({ engines }) => {
  const client = new Redis(engines.redis.url);
  await client.flushall();
  client.disconnect();
};

/** All sessions end at once, and new ones are refused for a while. */
export const takeConnections: Strike = async ({ engines }, random) => {
  await using _taken = await engines.postgres.takeConnections();
  await aWhile(random);
};

export const readOnly: Strike = async ({ engines }, random) => {
  await engines.postgres.allowWrites(false);
  await aWhile(random);
  await engines.postgres.allowWrites(true);
};

export const breakDisk: Strike = async ({ engines }, random) => {
  await engines.postgres.breakDisk();
  await aWhile(random);
  await engines.postgres.mendDisk();
};

export const promoteStandby: Strike = ({ engines }) => engines.postgres.promoteStandby();

/** More than what clocks of one site may differ by, and less than the life of a token. */
const CLOCK_MOVED_MS_MAX = 60_000;

/** The clocks of some processes jump ahead or back, and return after a while. */
export const moveClock =
  (victims: Victims): Strike =>
  async (site, random) => {
    const moved = victims(site, random);
    const byMs = Math.round((random() * 2 - 1) * CLOCK_MOVED_MS_MAX);
    await Promise.all(moved.map(({ moveClock }) => moveClock(byMs)));
    await aWhile(random);
    await Promise.all(moved.map(({ moveClock }) => moveClock(0)));
  };

export const together =
  (one: Strike, other: Strike): Strike =>
  async (site, random) =>
    void (await Promise.all([one(site, random), other(site, random)]));
