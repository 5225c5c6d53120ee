import { streamOf } from '../graphql/graphql-stream.ts';
import { type Followed, follow } from '../http/event-source.ts';
import { until } from '../until.ts';
import type { Checks } from './checks.ts';
import { mayEver } from './declared.ts';
import { hasShownEvents } from './history.ts';
import { callersOf } from './rights-callers.ts';
import { scopeIn } from './rights-expected.ts';
import { type Actor, isCrowded, type Made, type Stage } from './stage.ts';
import { visibleEventsIfKnown } from './visible-events.ts';

/** The names under which checks are counted. */
export const RECEIVED = 'received events';
export const PAST = 'resumption from before what memory keeps';

type Message = { readonly id: string; readonly type: string; readonly subject: string };

/**
 * Every subscriber receives the events visible to it, in order, by server-sent events, GraphQL and webhooks,
 * and resumes at its cursor.
 */
export const checkStreams = async (stage: Stage, checks: Checks): Promise<void> => {
  const readers = [...stage.actors.filter(({ token }) => token !== undefined), await withoutReading(stage)];
  await using open = new AsyncDisposableStack();
  const followers = await Promise.all(readers.map((actor) => openFollower(stage, open, actor)));
  const made = await makeAll(stage);
  const expected = followers.flatMap((follower) => expectedBy(stage, follower, made));
  // Wait for all expected events of all subscribers before comparing, so that surplus events show too.
  for (const { seen, types } of expected)
    await until(seen, (messages) => messages.length >= types.length).catch(() => undefined);
  for (const { way, seen, types, what } of expected)
    (types.length > 0 ? checks.of(RECEIVED) : checks).equal(
      inOrder(
        way,
        seen().map(({ type }) => type),
      ),
      inOrder(way, types),
      what,
    );
  // The second of a role sees as many events, and resumes among them alike.
  const resuming = followers.filter(({ actor }) => !actor.key.endsWith(' 2'));
  for (const follower of resuming) await checkResumption({ checks, from: stage.installation.url }, follower);
  // Another replica caches only events since its start, so it reads these from the log.
  await using replica = await stage.host.startQuery(stage.installation.settings);
  for (const follower of resuming)
    await checkResumption({ checks: checks.of(PAST), from: replica.url }, follower);
  const stranger = await stage.ask('GET', '/events', {});
  checks.equal(stranger.status, 401, 'events for nobody');
};

/** An administrator whose token reads no aggregates: what is public stays visible. */
const withoutReading = async (stage: Stage): Promise<Actor> => {
  const scopes = Object.values(stage.domain.kinds).map((kind) => scopeIn(kind, 'read'));
  const { token } = await callersOf(stage).without(...scopes);
  return { key: 'admin without reading', role: 'anonymous', userId: null, token, isPerson: false };
};

type Expected = {
  readonly way: string;
  readonly what: string;
  readonly types: readonly string[];
  readonly seen: () => readonly Message[];
};

/** For each fixture, by each transport; leaves out conditions that this suite cannot evaluate. */
const expectedBy = (stage: Stage, { actor, ways }: Follower, made: readonly Made[]): readonly Expected[] =>
  made.flatMap((one) => {
    const wanted = visibleEventsIfKnown(stage, actor, one.situation);
    if (wanted === undefined) return [];
    const subject = `${one.situation.kind.name}-${one.id}`;
    return Object.entries(ways).map(([way, seen]) => ({
      ...{
        way,
        what: `${way} to ${actor.key} of ${one.situation.name}`,
        types: wanted.map(({ type }) => type),
      },
      seen: () => seen().filter((message) => message.subject === subject),
    }));
  });

/** Webhooks deliver out of order unless their owner requests order. */
const inOrder = (way: string, types: readonly string[]): readonly string[] =>
  way === 'webhook' ? types.toSorted() : types;

type Follower = {
  readonly actor: Actor;
  readonly events: Followed;
  readonly ways: Readonly<Record<string, () => readonly Message[]>>;
};

const openFollower = async (stage: Stage, open: AsyncDisposableStack, actor: Actor): Promise<Follower> => {
  const { installation, sink, session, domain } = stage;
  const headers = { authorization: `Bearer ${actor.token}` };
  const events = await follow(`${installation.url}/events`, { headers });
  open.defer(() => events.close());
  const changes = await streamOf(installation, 'subscription { changes { type subjectId } }', {
    ...(actor.token && { token: actor.token }),
  });
  open.defer(() => changes.close());
  const path = `/${encodeURIComponent(actor.key)}`;
  // No webhook can ask for a kind whose events are all internal.
  const shown = Object.values(domain.kinds).filter(hasShownEvents);
  const eventTypes = shown.map(({ name }) => `${name}.*`);
  // A webhook that would never get an event is refused.
  if (shown.some((kind) => mayEver(domain, kind, 'read', actor.role)))
    await session.write('POST', '/webhooks', {
      token: actor.token,
      body: { url: `${sink.url}${path}`, eventTypes, payload: 'full' },
    });
  return {
    actor,
    events,
    ways: {
      'server-sent events': () => events.messages.map(({ data }) => JSON.parse(data) as Message),
      webhook: () =>
        sink.received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body) as Message),
      subscription: () =>
        changes.messages.flatMap(({ event, data }) => {
          const change =
            event === 'next'
              ? (JSON.parse(data) as { data?: { changes?: Message & { subjectId: string } } }).data?.changes
              : undefined;
          return change ? [{ ...change, subject: `${change.type.split('.')[0]}-${change.subjectId}` }] : [];
        }),
    },
  };
};

const makeAll = async (stage: Stage): Promise<readonly Made[]> => {
  const situations = stage.found.situations.filter(({ later }) => later.length === 0);
  const made: Made[] = [];
  for (const situation of isCrowded(stage.domain) ? situations.slice(0, 1) : situations)
    made.push(await stage.make(situation));
  return made;
};

/**
 * Resumes at several cursors: exactly the later events come again, from memory, or from the log for older
 * cursors.
 */
const checkResumption = async (
  { checks, from: url }: Resuming,
  { actor, events }: Follower,
): Promise<void> => {
  const seen = events.messages.filter(({ data }) => data !== '');
  for (const index of new Set([0, Math.floor(seen.length / 2), seen.length - 2])) {
    const from = seen[index];
    if (from === undefined) continue;
    const headers = { authorization: `Bearer ${actor.token}`, 'last-event-id': from.id };
    const again = await follow(`${url}/events`, { headers });
    const wanted = seen.slice(index + 1).map(({ id }) => id);
    await until(
      () => again.messages.length,
      (length) => length >= wanted.length,
    ).catch(() => undefined);
    checks.equal(
      again.messages.slice(0, wanted.length).map(({ id }) => id),
      wanted,
      `${actor.key} goes on after ${from.id}`,
    );
    await again.close();
  }
};
type Resuming = { readonly checks: Checks; readonly from: string };
