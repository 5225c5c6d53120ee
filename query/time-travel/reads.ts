import type { ItemAnswer, ListAnswer, ReadAnswer } from '#edge/rest/reads/answer.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import type { Domain, ListInfo } from '#kernel/registry/registry.ts';
import { ofAggregates } from '#shared/rest/operations.ts';
import type { Asked } from '../kinds/list.ts';
import type { KindRead, KindReads } from '../reads/reads.ts';
import type { AnyReads, Reader, Reads } from '../rest/read-routes.ts';
import { demandItems, demandSource, type Source, sourcesOf } from '../rows/sources.ts';
import { type Kind, pathOf, readingOf } from './aggregates.ts';
import { isAuditor } from './auditor.ts';
import { createPositionFinder } from './find-position.ts';
import { createItemOpener, createItemReader, mayReadNow } from './items.ts';
import { pastListing } from './listed.ts';
import { demandCreationOrder, demandParent, readPastList } from './lists.ts';
import { pastItemReads } from './lists-of-items.ts';
import type { PastOptions } from './options.ts';
import { createPastOpener } from './past.ts';

type UserReads = Pick<Reads, 'getUser' | 'listUsers'>;

/** The reads of aggregates, with time travel if `at` is given. */
export const timeTravelReads = (now: KindReads, options: PastOptions): UserReads & AnyReads => {
  const { domain } = options;
  const then = createReadsThen(now, options);
  const item = (kind: Kind): KindRead => either(now.item(kind), then.item(kind, now.item(kind)));
  const list = (kind: Kind): KindRead => either(now.list(kind), then.list(kind));
  const ofDomain = ofAggregates(domain).flatMap(([id, { use }]): readonly (readonly [string, KindRead])[] => {
    const { name } = use.kind;
    switch (use.does) {
      case 'read':
        return [[id, item(name)]];
      case 'list':
        return [[id, list(name)]];
      case 'listOfUser':
        return [[id, either(now.listOfUser(name), then.listOfUser(name))]];
      case 'listItems':
        return [[id, either(now.items(name, use.list).list, then.items(name, use.list).list)]];
      case 'readItem':
        return [[id, either(now.items(name, use.list).item, then.items(name, use.list).item)]];
      default:
        return [];
    }
  });
  return {
    ...Object.fromEntries(ofDomain),
    getUser: item('user'),
    listUsers: list('user'),
  };
};

/** The same for a kind that the kernel itself manages, whose part reads it now. */
export const timeTravelOf = <Given extends Asked & { readonly at?: string | undefined }>(
  kind: Kind,
  now: {
    readonly kinds: KindReads;
    item(reader: Reader, asked: { readonly at?: string | undefined }): Promise<ItemAnswer>;
    list(reader: Reader, asked: Given): Promise<ListAnswer>;
  },
  options: PastOptions,
) => {
  const then = createReadsThen(now.kinds, options);
  return {
    item: either(
      now.item,
      then.item(kind, (reader) => now.item(reader, {})),
    ),
    list: either(now.list, then.list(kind)),
  };
};

type At = { readonly at: string };

const either =
  <Given extends { readonly at?: string | undefined }, Answer extends ReadAnswer>(
    readNow: (reader: Reader, asked: Given) => Promise<Answer>,
    readPast: (reader: Reader, asked: Given & At) => Promise<Answer>,
  ) =>
  (reader: Reader, asked: Given): Promise<Answer> =>
    asked.at === undefined ? readNow(reader, asked) : readPast(reader, { ...asked, at: asked.at });

const createReadsThen = (now: KindReads, options: PastOptions) => {
  const { domain, pool } = options;
  const findPosition = createPositionFinder(options);
  const openPast = createPastOpener(options);
  const readItem = createItemReader({ domain, findPosition, openPast });
  const openItem = createItemOpener({ domain, findPosition, openPast });
  const open = async ({ charge }: Reader, at: string) => openPast(await findPosition(at, charge), charge);
  const listUnder = async (
    source: Source,
    reader: Reader,
    { asked, kind, column }: Under,
  ): Promise<ListAnswer> => {
    const past = await open(reader, asked.at);
    const id = await demandParent({ domain, source, kind, past, reader });
    const listed = pastListing(past, reader.caller, { source, under: { column, id }, filter: asked });
    const path = `${pathOf(domain, kind, id)}/${source.kind.path}`;
    return readPastList({ domain, pool, past, reader }, { kind: source.kind.name, path, asked, ...listed });
  };
  return {
    item:
      (kind: Kind, read: (reader: Reader) => Promise<unknown>) =>
      (reader: Reader, { at }: At): Promise<ItemAnswer> =>
        readItem({ kind, now: read }, reader, at),
    items(kind: Kind, list: ListInfo) {
      const items = demandItems(demandSource(sourcesOf(domain), kind), list);
      return pastItemReads({
        domain,
        items,
        open: openItem,
        now: { aggregate: now.item(kind), item: now.items(kind, list).item },
      });
    },
    list:
      (kind: Kind) =>
      async (reader: Reader, asked: Asked & At): Promise<ListAnswer> => {
        const source = demandSource(sourcesOf(domain), kind);
        const { parent } = source;
        demandCreationOrder(asked);
        if (parent?.target) {
          await demandNow({ domain, above: parent.target.name, reader }, () =>
            now.list(kind)(reader, { limit: 1 }),
          );
          return listUnder(source, reader, { asked, kind: parent.target.name, column: parent.column });
        }
        const past = await open(reader, asked.at);
        const listed = pastListing(past, reader.caller, { source, under: undefined, filter: asked });
        return readPastList(
          { domain, pool, past, reader },
          { kind, path: `/${source.kind.path}`, asked, ...listed },
        );
      },
    listOfUser:
      (kind: Kind) =>
      async (reader: Reader, asked: Asked & At): Promise<ListAnswer> => {
        const source = demandSource(sourcesOf(domain), kind);
        demandCreationOrder(asked);
        await demandNow({ domain, above: 'user', reader }, () => now.listOfUser(kind)(reader, { limit: 1 }));
        return listUnder(source, reader, { asked, kind: 'user', column: source.owner?.column ?? '' });
      },
  };
};

type Under = { readonly asked: Asked & At; readonly kind: Kind; readonly column: string };

/** The parent of a list. If it does not exist now, only auditors may read the list in the past. */
type Above = { readonly domain: Domain; readonly above: Kind; readonly reader: Reader };
const demandNow = async ({ domain, above, reader }: Above, read: () => Promise<unknown>): Promise<void> => {
  const isThere = await mayReadNow(read, isAuditor(reader.caller, readingOf(domain, above)));
  if (!isThere && pathId(reader.id) === undefined) throw new Rejection(notFound(above));
};
