import type { Domain } from '#kernel/registry/registry.ts';
import type { StreamName } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { type Catalogue, catalogueOf } from '#shared/events/catalogue.ts';
import { fitsPattern, typesOf } from '#shared/events/event-patterns.ts';
import { type EventReference, refersTo } from '#shared/events/event-references.ts';
import { streamName } from '#shared/events/streams.ts';
import type { EventFilter } from '#shared/rest/events.ts';
import type { Topic } from '../changes/topics.ts';

/** Whether a change is among what is asked for. */
export const askedBy = (catalogue: Catalogue, filter: EventFilter): ((change: Change) => boolean) => {
  const { types, actor, subject } = filter;
  const references = referredIn(catalogue, filter);
  return (change) =>
    (types === undefined || types.some((pattern) => fitsPattern(pattern, change.type))) &&
    (actor === undefined || change.origin?.actor === actor) &&
    (subject === undefined || change.stream === subject) &&
    references.every(([reference, id]) => refersTo(reference, id, change));
};

/** The references that are asked for. */
const referredIn = ({ references }: Catalogue, filter: EventFilter): readonly (readonly [EventReference, number])[] =>
  references.flatMap((reference) => {
    const id = filter[reference.name];
    return typeof id === 'number' ? [[reference, id] as const] : [];
  });

/** The one stream that has all of it, where there is one. */
export const streamFor = (catalogue: Catalogue, filter: EventFilter): StreamName | undefined => {
  const alone = referredIn(catalogue, filter).find(([{ kind, of }]) => kind !== undefined && of.size === 0);
  return (filter.subject as StreamName | undefined) ?? (alone && streamName(alone[0].kind ?? '', alone[1]));
};

/** The topics that have all of it, and as little beside it as an index can tell. */
export const topicsFor = (domain: Domain, filter: EventFilter): readonly Topic[] => {
  const catalogue = catalogueOf(domain);
  if (filter.subject !== undefined) return [topicOfSubject(domain, filter.subject)];
  const [found] = referredIn(catalogue, filter).filter(([{ kind }]) => kind !== undefined);
  if (found !== undefined) return [found[0].kind ?? '', ...found[0].under].map((each): Topic => `${each}:${found[1]}`);
  return filter.types === undefined ? ['all'] : topicsOfTypes(catalogue, filter.types);
};

/** Patterns, as `article.*`, stand for the types that they fit. */
export const topicsOfTypes = (catalogue: Catalogue, patterns: readonly string[]): readonly Topic[] =>
  patterns.includes('*')
    ? ['all']
    : [...new Set(patterns.flatMap((pattern) => typesOf(catalogue, pattern)))].map((type): Topic => `type:${type}`);

/** Only what the domain declares is indexed by what it is. */
const topicOfSubject = ({ kinds }: Domain, subject: string): Topic => {
  const [kind = ''] = subject.split('-', 1);
  return kinds[kind] === undefined ? 'all' : `${kind}:${subject.slice(kind.length + 1)}`;
};
