import type { ItemAnswer, ListAnswer } from '#edge/rest/reads/answer.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import type { Domain, ListInfo } from '#kernel/registry/registry.ts';
import type { Asked } from '../kinds/list.ts';
import type { KindReads } from '../reads/reads.ts';
import type { Reader } from '../rest/read-routes.ts';
import type { Source } from '../rows/source.ts';
import { demandItems, demandSource, sourcesOf } from '../rows/sources.ts';
import { type Kind, pathOf, readingOf } from './aggregates.ts';
import { isAuditor } from './auditor.ts';
import { createPositionFinder } from './find-position.ts';
import { createItemOpener, createItemReader, mayReadNow } from './items.ts';
import { pastListing } from './listed.ts';
import { demandCreationOrder, demandParent, readPastList } from './lists.ts';
import { pastItemReads } from './lists-of-items.ts';
import type { PastOptions } from './options.ts';
import { createPastOpener } from './past.ts';

type At = { readonly at: string };

/** The reads of former states. */
export type PastReads = ReturnType<typeof createPastReads>;

export const createPastReads = (now: KindReads, options: PastOptions) => {
  const { domain, pool } = options;
  const findPosition = createPositionFinder(options);
  const openPast = createPastOpener(options);
  const readItem = createItemReader({ domain, findPosition, openPast });
  const openItem = createItemOpener({ domain, findPosition, openPast });
  const open = async ({ charge }: Reader, at: string) => openPast(await findPosition(at, charge), charge);
  const openUnder = async (source: Source, reader: Reader, { asked, kind, column }: Under) => {
    const past = await open(reader, asked.at);
    const id = await demandParent({ domain, source, kind, past, reader });
    const listed = await pastListing(past, reader.caller, { source, under: { column, id }, filter: asked });
    return { past, path: `${pathOf(domain, kind, id)}/${source.kind.path}`, ...listed };
  };
  /** A list in the past: where to search for its items, before it is divided into pages. */
  const opened = {
    async list(kind: Kind, reader: Reader, asked: Asked & At) {
      const source = demandSource(sourcesOf(domain), kind);
      const { parent } = source;
      demandCreationOrder(asked);
      if (parent?.target) {
        await demandNow({ domain, above: parent.target.name, reader }, () =>
          now.list(kind)(reader, { limit: 1 }),
        );
        return openUnder(source, reader, { asked, kind: parent.target.name, column: parent.column });
      }
      const past = await open(reader, asked.at);
      const listed = await pastListing(past, reader.caller, { source, under: undefined, filter: asked });
      return { past, path: `/${source.kind.path}`, ...listed };
    },
    async listOfUser(kind: Kind, reader: Reader, asked: Asked & At) {
      const source = demandSource(sourcesOf(domain), kind);
      demandCreationOrder(asked);
      await demandNow({ domain, above: 'user', reader }, () => now.listOfUser(kind)(reader, { limit: 1 }));
      return openUnder(source, reader, { asked, kind: 'user', column: source.owner?.column ?? '' });
    },
  };
  const pageOf =
    (does: keyof typeof opened) =>
    (kind: Kind) =>
    async (reader: Reader, asked: Asked & At): Promise<ListAnswer> => {
      const { past, ...listed } = await opened[does](kind, reader, asked);
      return readPastList({ domain, pool, past, reader }, { kind, asked, ...listed });
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
    opened,
    list: pageOf('list'),
    listOfUser: pageOf('listOfUser'),
  };
};

type Under = { readonly asked: Asked & At; readonly kind: Kind; readonly column: string };

/** The parent of a list. If it does not exist now, only auditors may read the list in the past. */
type Above = { readonly domain: Domain; readonly above: Kind; readonly reader: Reader };
const demandNow = async ({ domain, above, reader }: Above, read: () => Promise<unknown>): Promise<void> => {
  const isThere = await mayReadNow(read, isAuditor(reader.caller, readingOf(domain, above)));
  if (!isThere && pathId(reader.id) === undefined) throw new Rejection(notFound(above));
};
