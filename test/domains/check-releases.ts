import { randomBytes } from 'node:crypto';
import { kebab } from '#kernel/base/names.ts';
import type { Row } from '#kernel/registry/registry.ts';
import { policyOf } from '#shared/policy.ts';
import type { Checks } from '../../testing/describe-domain/checks.ts';
import { type Made, openStage, type Stage } from '../../testing/describe-domain/stage.ts';
import { openPeople } from '../../testing/http/people.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { operate, startInstallation } from '../engines/installation.ts';
import type { Grown } from './grow.ts';
import { nextRelease } from './next-release.ts';
import { suitsChecks } from './suits-checks.ts';

const MADE_MAX = 6;

type Read = (path: string) => Promise<{ readonly status: number; readonly body: unknown }>;

/**
 * An addition, as `domain check` calls it, starts on the data of the release before, and shows the same to those
 * who know only that release. The proof covers both.
 */
export const checkReleases = async (
  { host, examples }: Stage,
  checks: Checks,
  grown: Pick<Grown, 'seed' | 'plan' | 'domain'>,
): Promise<void> => {
  const next = nextRelease(grown, suitsChecks);
  await using database = await host.createDatabase();
  await using folder = await host.createFolder();
  const settings = {
    DATABASE_URL: database.url,
    DATA_DIR: folder.path,
    MASTER_KEY: randomBytes(32).toString('base64'),
  };
  const own = { ...host, start: (more: object) => host.start({ ...more, ...settings }) };
  const { admin, seen } = await (async () => {
    await using stage = await openStage(grown.domain, { host: own, examples, seed: grown.seed });
    const paths = pathsOf(stage, await makeSome(stage));
    const read: Read = (path) => stage.read(path, stage.admin);
    return { admin: stage.installation.admin, seen: await readAll(read, paths) };
  })();
  await using installation = await startInstallation({ settings, admin, of: { domain: next.domain } });
  // A client of the former release has no right to anything new.
  const { scopes } = policyOf(grown.domain);
  const { administrator } = await openPeople({ ...installation, scopes });
  const ask = restClientOf(installation);
  const read: Read = (path) => ask('GET', path, { token: administrator.token });
  // Until the rebuild, the tables of the former release answer, or none.
  for (const [path] of seen) {
    const { status, body } = await read(path);
    const isFault = status >= 500 && status !== 503;
    checks.equal(
      { isFault, body: isFault && body },
      { isFault: false, body: false },
      `${path} before a rebuild`,
    );
  }
  await operate(['projection', 'rebuild'], installation.settings, next.domain);
  for (const [path, { status, body }] of seen) {
    const now = await read(path);
    checks.equal(now.status, status, `${path} after ${next.taken.join(', ')}`);
    checks.equal(knownOf(body, now.body), plain(body), `${path} after ${next.taken.join(', ')}`);
  }
  const proof = await operate(['audit', 'verify'], installation.settings, next.domain);
  checks.equal(/^Proven/m.test(proof), true, `audit verify after ${next.taken.join(', ')}: ${proof}`);
};

const makeSome = async (stage: Stage): Promise<readonly Made[]> => {
  const firsts = new Map(stage.found.situations.map((situation) => [situation.alike, situation]));
  const made: Made[] = [];
  for (const situation of [...firsts.values()].slice(0, MADE_MAX)) made.push(await stage.make(situation));
  return made;
};

const pathsOf = ({ domain }: Stage, made: readonly Made[]): readonly string[] => [
  ...new Set([
    ...made.flatMap(({ path, situation: { kind } }) => [
      path,
      `${path}/history`,
      ...Object.values(kind.lists).map(({ name }) => `${path}/${kebab(name)}`),
    ]),
    ...Object.values(domain.kinds)
      .filter(({ parent }) => parent === undefined)
      .map(({ path }) => `/${path}?limit=100`),
    ...domain.views.map(({ path }) => `/${path}?limit=100`),
  ]),
];

const readAll = async (read: Read, paths: readonly string[]) => {
  const all = new Map<string, Awaited<ReturnType<Read>>>();
  for (const path of paths) all.set(path, await read(path));
  return all;
};

/** Links may be more later, and lead to another address here; a refusal names its request. */
const OF_THE_REQUEST: ReadonlySet<string> = new Set(['_links', 'requestId']);

const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => (OF_THE_REQUEST.has(name) ? [] : [[name, plain(each)]])),
  );
};

/** A history names fields that are new. */
const knownAmong = (before: readonly unknown[], now: readonly unknown[]): readonly unknown[] => {
  const names = new Set(before.map(fieldIn));
  return now.filter((each) => fieldIn(each) === undefined || names.has(fieldIn(each)));
};
const fieldIn = (change: unknown): unknown => (change as Row | null)?.field;

/** An answer as a client of the former release knows it, without members that it does not know. */
const knownOf = (before: unknown, now: unknown): unknown => {
  if (Array.isArray(before) && Array.isArray(now))
    return knownAmong(before, now).map((each, index) =>
      index < before.length ? knownOf(before[index], each) : plain(each),
    );
  if (typeof before !== 'object' || before === null || typeof now !== 'object' || now === null)
    return plain(now);
  const members = now as Row;
  return plain(
    Object.fromEntries(
      Object.entries(before).flatMap(([name, value]) =>
        name in members ? [[name, knownOf(value, members[name])]] : [],
      ),
    ),
  );
};
