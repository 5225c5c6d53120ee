import type { Domain } from '#kernel/registry/registry.ts';
import { sourcesOf } from '../../rows/sources.ts';
import { viewSourcesOf } from '../../views/source.ts';
import type { Context, Resolver } from '../resolvers/context.ts';
import { readById } from '../resolvers/reads.ts';
import type { Row } from '../resolvers/rows.ts';
import { changedName, changeType, eventName, viewChangedName } from '../rules/names.ts';
import type { SubscriptionEvent } from './subscription-event.ts';

/** Each root field yields the event as its payload. */
const payload: Resolver = (event: SubscriptionEvent) => event;

/** The current state of the changed aggregate. */
const subject =
  (kind: string, type: string): Resolver =>
  async (event: SubscriptionEvent, _args, context: Context): Promise<Row | null> =>
    event.kind === kind ? await readById(context, type, event.subjectId) : null;

/** By type. Every other field of a payload is a member of the event. */
export const subscriptionOf = (
  domain: Domain,
): Readonly<Record<string, Readonly<Record<string, Resolver>>>> => {
  const { all, managed } = sourcesOf(domain);
  const kinds = all.map(({ kind }) => kind);
  const roots = kinds.flatMap((kind) => [
    changedName(kind),
    ...Object.values(kind.events).map((event) => eventName(kind, event)),
  ]);
  const views = viewSourcesOf(domain).map(({ view }) => [viewChangedName(view), payload] as const);
  const subjects = kinds.map((kind) => [kind.name, subject(kind.name, kind.type)] as const);
  return {
    Subscription: {
      ...Object.fromEntries(roots.map((root) => [root, payload])),
      ...Object.fromEntries(views),
      changes: payload,
    },
    ...Object.fromEntries(
      kinds.map((kind, index) => [changeType(kind), Object.fromEntries(subjects.slice(index, index + 1))]),
    ),
    Change: {
      ...Object.fromEntries(subjects),
      ...Object.fromEntries(managed.map(({ kind }) => [kind.name, subject(kind.name, kind.type)])),
    },
  };
};
