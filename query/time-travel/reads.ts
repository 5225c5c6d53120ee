import type { ItemAnswer, ListAnswer, ReadAnswer } from '#edge/rest/reads/answer.ts';
import { ofAggregates } from '#shared/rest/operations.ts';
import { whenAsked } from '#shared/when-asked.ts';
import type { Asked } from '../kinds/list.ts';
import type { KindRead, KindReads } from '../reads/reads.ts';
import type { AnyReads, Reader, Reads } from '../rest/read-routes.ts';
import type { Kind } from './aggregates.ts';
import type { PastOptions } from './options.ts';
import type { PastReads } from './past-reads.ts';

type UserReads = Pick<Reads, 'getUser' | 'listUsers'>;

/** The reads of aggregates, with time travel if `at` is given. */
export const timeTravelReads = (now: KindReads, options: PastOptions): UserReads & AnyReads => {
  const either = createEither(now, options);
  const item = (kind: Kind): KindRead => either(now.item(kind), (then) => then.item(kind, now.item(kind)));
  const list = (kind: Kind): KindRead => either(now.list(kind), (then) => then.list(kind));
  const ofDomain = ofAggregates(options.domain).flatMap(
    ([id, { use }]): readonly (readonly [string, KindRead])[] => {
      const { name } = use.kind;
      switch (use.does) {
        case 'read':
          return [[id, item(name)]];
        case 'list':
          return [[id, list(name)]];
        case 'listOfUser':
          return [[id, either(now.listOfUser(name), (then) => then.listOfUser(name))]];
        case 'listItems':
          return [[id, either(now.items(name, use.list).list, (then) => then.items(name, use.list).list)]];
        case 'readItem':
          return [[id, either(now.items(name, use.list).item, (then) => then.items(name, use.list).item)]];
        default:
          return [];
      }
    },
  );
  return {
    ...Object.fromEntries(ofDomain),
    getUser: item('user'),
    listUsers: list('user'),
  };
};

/** The same for a kind that the kernel itself manages, whose part reads it now. */
export const timeTravelOf = <Given extends Asked & MaybeAt>(
  kind: Kind,
  now: {
    readonly kinds: KindReads;
    item(reader: Reader, asked: MaybeAt): Promise<ItemAnswer>;
    list(reader: Reader, asked: Given): Promise<ListAnswer>;
  },
  options: PastOptions,
) => {
  const either = createEither(now.kinds, options);
  return {
    item: either(now.item, (then) => then.item(kind, (reader) => now.item(reader, {}))),
    list: either(now.list, (then) => then.list(kind)),
  };
};

type MaybeAt = { readonly at?: string | undefined };
type At = { readonly at: string };

/** The code that reads former states is loaded with the first request that names a time. */
const createEither = (now: KindReads, options: PastOptions) => {
  const then = whenAsked(async () => (await import('./past-reads.ts')).createPastReads(now, options));
  return <Given extends MaybeAt, Answer extends ReadAnswer>(
    readNow: (reader: Reader, asked: Given) => Promise<Answer>,
    pastOf: (then: PastReads) => (reader: Reader, asked: Given & At) => Promise<Answer>,
  ) =>
    async (reader: Reader, asked: Given): Promise<Answer> =>
      asked.at === undefined
        ? readNow(reader, asked)
        : pastOf(await then())(reader, { ...asked, at: asked.at });
};
