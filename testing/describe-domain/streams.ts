import { streamOf } from '../graphql/graphql-stream.ts';
import { type Followed, follow } from '../http/event-source.ts';
import { until } from '../until.ts';
import type { Checks } from './checks.ts';
import { type Actor, isCrowded, type Made, type Stage } from './stage.ts';
import { toldIfKnown } from './told.ts';

type Message = { readonly id: string; readonly type: string; readonly subject: string };

/** Whoever follows is told in order of what they may know, by server-sent events, GraphQL and webhooks, and goes on where they were. */
export const checkStreams = async (stage: Stage, checks: Checks): Promise<void> => {
  const readers = stage.actors.filter(({ token }) => token !== undefined);
  await using open = new AsyncDisposableStack();
  const followers = await Promise.all(readers.map((actor) => openFollower(stage, open, actor)));
  const made = await makeAll(stage);
  // The last of what is there ends for all who see it.
  for (const follower of followers) {
    const known = made.map((one) => [one, toldIfKnown(stage, follower.actor, one.situation)] as const);
    for (const [way, seen] of Object.entries(follower.ways)) {
      for (const [one, wanted] of known) {
        if (wanted === undefined) continue;
        const subject = `${one.situation.kind.name}-${one.id}`;
        const types = wanted.map(({ type }) => type);
        const ofIt = () => seen().filter((message) => message.subject === subject);
        const actual = await until(ofIt, (messages) => messages.length >= types.length).catch(ofIt);
        const what = `${way} to ${follower.actor.key} of ${one.situation.name}`;
        checks.equal(
          inOrder(
            way,
            actual.map(({ type }) => type),
          ),
          inOrder(way, types),
          what,
        );
      }
    }
    await checkResumption(stage, checks, follower);
  }
  const stranger = await stage.ask('GET', '/events', {});
  checks.equal(stranger.status, 401, 'events for nobody');
};

/** Webhooks may come in another order unless that is asked for. */
const inOrder = (way: string, types: readonly string[]): readonly string[] => (way === 'webhook' ? types.toSorted() : types);

type Follower = { readonly actor: Actor; readonly events: Followed; readonly ways: Readonly<Record<string, () => readonly Message[]>> };

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
  const eventTypes = Object.values(domain.kinds).map(({ name }) => `${name}.*`);
  await session.write('POST', '/webhooks', { token: actor.token, body: { url: `${sink.url}${path}`, eventTypes, payload: 'full' } });
  return {
    actor,
    events,
    ways: {
      'server-sent events': () => events.messages.map(({ data }) => JSON.parse(data) as Message),
      webhook: () => sink.received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body) as Message),
      subscription: () =>
        changes.messages.flatMap(({ event, data }) => {
          const change =
            event === 'next' ? (JSON.parse(data) as { data?: { changes?: Message & { subjectId: string } } }).data?.changes : undefined;
          return change ? [{ ...change, subject: `${change.type.split('.')[0]}-${change.subjectId}` }] : [];
        }),
    },
  };
};

const makeAll = async (stage: Stage): Promise<readonly Made[]> => {
  const situations = stage.found.situations.filter(({ later }) => later.length === 0);
  const made: Made[] = [];
  for (const situation of isCrowded(stage.domain) ? situations.slice(0, 1) : situations) made.push(await stage.make(situation));
  return made;
};

/** From each of some places, what came after it comes again, and nothing else. */
const checkResumption = async ({ installation }: Stage, checks: Checks, { actor, events }: Follower): Promise<void> => {
  const seen = events.messages.filter(({ data }) => data !== '');
  for (const index of new Set([0, Math.floor(seen.length / 2), seen.length - 2])) {
    const from = seen[index];
    if (from === undefined) continue;
    const headers = { authorization: `Bearer ${actor.token}`, 'last-event-id': from.id };
    const again = await follow(`${installation.url}/events`, { headers });
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
