import type { StreamName } from '#kernel/base/brands.ts';
import type { Origin } from '#kernel/base/events/metadata.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { type EventReference, refersTo } from '#kernel/registry/event-references.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { IndexQuery } from '#shared/event-index/event-index.ts';
import { type Catalogue, catalogueOf } from '#shared/events/catalogue.ts';
import { fitsPattern, typesOf } from '#shared/events/event-patterns.ts';
import type { Caller } from '#shared/policy.ts';
import type { EventFilter } from '#shared/rest/events.ts';
import { visibleOrigin } from '#shared/visibility/visible-origin.ts';
import type { Topic } from '../changes/topics.ts';

/**
 * True if a change matches the filter, by what the caller may see of it. It ignores `text`, which `containsText`
 * compares.
 */
export const matcherOf = (
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

/** A domain may name a reference `client`, whose parameter then takes an id. */
const clientIn = ({ client }: EventFilter): string | undefined =>
  typeof client === 'string' ? client : undefined;

type Way = { readonly client: string | undefined; readonly correlation: string | undefined };

/** The client and the correlation match only for callers who may see them. */
const cameBy = ({ origin }: Change, caller: Caller, way: Way): boolean => {
  const seen: Partial<Origin> = origin === null ? {} : visibleOrigin(caller, origin);
  return (
    (way.client === undefined || seen.client === way.client) &&
    (way.correlation === undefined || seen.correlation === way.correlation)
  );
};

/** True if the reason, or one of the values in the data, contains the text, in any case. */
export const containsText = (text: string): ((event: Searched) => boolean) => {
  const wanted = text.toLowerCase();
  const says = (value: unknown): boolean => {
    if (typeof value === 'string') return value.toLowerCase().includes(wanted);
    if (typeof value === 'object') return value !== null && Object.values(value).some(says);
    return String(value).includes(wanted);
  };
  return ({ data, reason = '' }) => says(data) || says(reason);
};

type Searched = { readonly data: JsonObject; readonly reason?: string };

/** The part of a filter that the index of events covers; `isAll` if that is all of it. */
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

/** The references in the filter. */
const referredIn = (
  { references }: Catalogue,
  filter: EventFilter,
): readonly (readonly [EventReference, number])[] =>
  references.flatMap((reference) => {
    const id = filter[reference.name];
    return typeof id === 'number' ? [[reference, id] as const] : [];
  });

/** The one stream that contains all matches, if there is one. */
const streamFor = (catalogue: Catalogue, filter: EventFilter): StreamName | undefined => {
  const alone = referredIn(catalogue, filter).find(([{ kind, of }]) => kind !== undefined && of.size === 0);
  return (filter.subject as StreamName | undefined) ?? (alone && streamName(alone[0].kind ?? '', alone[1]));
};

/** Topics that cover all matches, and as few other changes as an index can distinguish. */
export const topicsFor = (domain: Domain, filter: EventFilter): readonly Topic[] => {
  const catalogue = catalogueOf(domain);
  if (filter.subject !== undefined) return [topicOfSubject(domain, filter.subject)];
  const [found] = referredIn(catalogue, filter).filter(([{ kind }]) => kind !== undefined);
  if (found !== undefined)
    return [found[0].kind ?? '', ...found[0].under].map((each): Topic => `${each}:${found[1]}`);
  return filter.types === undefined ? ['all'] : topicsOfTypes(catalogue, filter.types);
};

/** A pattern, as `article.*`, stands for all types that match it. */
export const topicsOfTypes = (catalogue: Catalogue, patterns: readonly string[]): readonly Topic[] =>
  patterns.includes('*')
    ? ['all']
    : [...new Set(patterns.flatMap((pattern) => typesOf(catalogue, pattern)))].map(
        (type): Topic => `type:${type}`,
      );

/** Only the domain’s kinds are indexed by aggregate. */
const topicOfSubject = ({ kinds }: Domain, subject: string): Topic => {
  const [kind = ''] = subject.split('-', 1);
  return kinds[kind] === undefined ? 'all' : `${kind}:${subject.slice(kind.length + 1)}`;
};
