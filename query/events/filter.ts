import type { Domain } from '#kernel/registry/registry.ts';
import type { StreamName } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { IndexQuery } from '#shared/event-index/event-index.ts';
import { type Catalogue, catalogueOf } from '#shared/events/catalogue.ts';
import { fitsPattern, typesOf } from '#shared/events/event-patterns.ts';
import { type EventReference, refersTo } from '#shared/events/event-references.ts';
import type { Origin } from '#shared/events/metadata.ts';
import { streamName } from '#shared/events/streams.ts';
import type { JsonObject } from '#shared/json.ts';
import type { Caller } from '#shared/policy.ts';
import type { EventFilter } from '#shared/rest/events.ts';
import { visibleOrigin } from '#shared/visibility/visible-origin.ts';
import type { Topic } from '../changes/topics.ts';

/**
 * Whether a change is among what is asked for, by what the caller may see of it. What its data says is for
 * `saysText` to find.
 */
export const askedBy = (
  catalogue: Catalogue,
  filter: EventFilter,
): ((change: Change, caller: Caller) => boolean) => {
  const { types, actor, subject, correlation } = filter;
  const client = clientIn(filter);
  const references = referredIn(catalogue, filter);
  return (change, caller) =>
    (types === undefined || types.some((pattern) => fitsPattern(pattern, change.type))) &&
    (actor === undefined || change.origin?.actor === actor) &&
    (subject === undefined || change.stream === subject) &&
    ((client === undefined && correlation === undefined) ||
      cameBy(change, caller, { client, correlation })) &&
    references.every(([reference, id]) => refersTo(reference, id, change));
};

/** A domain may call a reference so, which then has the parameter. */
const clientIn = ({ client }: EventFilter): string | undefined =>
  typeof client === 'string' ? client : undefined;

type Way = { readonly client: string | undefined; readonly correlation: string | undefined };

/** How something came about is found by those alone who see it. */
const cameBy = ({ origin }: Change, caller: Caller, way: Way): boolean => {
  const seen: Partial<Origin> = origin === null ? {} : visibleOrigin(caller, origin);
  return (
    (way.client === undefined || seen.client === way.client) &&
    (way.correlation === undefined || seen.correlation === way.correlation)
  );
};

/** Whether data has a text in one of its values; upper and lower case count alike. */
export const saysText = (text: string): ((data: JsonObject) => boolean) => {
  const wanted = text.toLowerCase();
  const says = (value: unknown): boolean => {
    if (typeof value === 'string') return value.toLowerCase().includes(wanted);
    if (typeof value === 'object') return value !== null && Object.values(value).some(says);
    return String(value).includes(wanted);
  };
  return says;
};

/** As much of a filter as the index of events knows, and whether that is all of it. */
export const indexed = (
  catalogue: Catalogue,
  filter: EventFilter,
): { readonly query: IndexQuery; readonly isAll: boolean } => {
  const { types, actor, correlation, text } = filter;
  const stream = streamFor(catalogue, filter);
  const query: IndexQuery = {
    types: types?.includes('*')
      ? undefined
      : types && [...new Set(types.flatMap((pattern) => typesOf(catalogue, pattern)))],
    stream,
    actor,
    client: clientIn(filter),
    correlation,
  };
  return {
    query,
    isAll: text === undefined && (stream !== undefined || referredIn(catalogue, filter).length === 0),
  };
};

/** The references that are asked for. */
const referredIn = (
  { references }: Catalogue,
  filter: EventFilter,
): readonly (readonly [EventReference, number])[] =>
  references.flatMap((reference) => {
    const id = filter[reference.name];
    return typeof id === 'number' ? [[reference, id] as const] : [];
  });

/** The one stream that has all of it, where there is one. */
const streamFor = (catalogue: Catalogue, filter: EventFilter): StreamName | undefined => {
  const alone = referredIn(catalogue, filter).find(([{ kind, of }]) => kind !== undefined && of.size === 0);
  return (filter.subject as StreamName | undefined) ?? (alone && streamName(alone[0].kind ?? '', alone[1]));
};

/** The topics that have all of it, and as little beside it as an index can tell. */
export const topicsFor = (domain: Domain, filter: EventFilter): readonly Topic[] => {
  const catalogue = catalogueOf(domain);
  if (filter.subject !== undefined) return [topicOfSubject(domain, filter.subject)];
  const [found] = referredIn(catalogue, filter).filter(([{ kind }]) => kind !== undefined);
  if (found !== undefined)
    return [found[0].kind ?? '', ...found[0].under].map((each): Topic => `${each}:${found[1]}`);
  return filter.types === undefined ? ['all'] : topicsOfTypes(catalogue, filter.types);
};

/** Patterns, as `article.*`, stand for the types that they fit. */
export const topicsOfTypes = (catalogue: Catalogue, patterns: readonly string[]): readonly Topic[] =>
  patterns.includes('*')
    ? ['all']
    : [...new Set(patterns.flatMap((pattern) => typesOf(catalogue, pattern)))].map(
        (type): Topic => `type:${type}`,
      );

/** Only what the domain declares is indexed by what it is. */
const topicOfSubject = ({ kinds }: Domain, subject: string): Topic => {
  const [kind = ''] = subject.split('-', 1);
  return kinds[kind] === undefined ? 'all' : `${kind}:${subject.slice(kind.length + 1)}`;
};
