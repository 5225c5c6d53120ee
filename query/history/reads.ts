import { formatKey, linksOfPage, parseKey } from '#edge/rest/pages.ts';
import type { ListAnswer } from '#edge/rest/reads/answer.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import { LIMIT_DEFAULT } from '#kernel/base/rest/lists.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import { ofAggregates } from '#shared/rest/operations.ts';
import type { KindReads } from '../reads/reads.ts';
import type { Reader, Reads } from '../rest/read-routes.ts';
import { type Kind, pathOf, readingOf } from '../time-travel/aggregates.ts';
import { isAuditor } from '../time-travel/auditor.ts';
import { mayReadNow } from '../time-travel/items.ts';
import { createHistory, type HistoryOptions, type HistoryPage } from './history.ts';

type Page = {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
};
type HistoryRead = (reader: Reader, asked: Page) => Promise<ListAnswer>;

/** Histories of aggregates that the caller may read now. Auditors also read those of deleted ones. */
export const historyReads = (
  now: Pick<KindReads, 'item'>,
  options: HistoryOptions,
): Pick<Reads, 'listUserHistory'> & Readonly<Record<string, HistoryRead>> => {
  const historyOf = createHistoryReads(options);
  return {
    ...Object.fromEntries(
      ofAggregates(options.domain).flatMap(([id, { use }]) =>
        use.does === 'history' ? [[id, historyOf(use.kind.name, now.item(use.kind.name))] as const] : [],
      ),
    ),
    listUserHistory: historyOf('user', now.item('user')),
  };
};

/** Makes the read of a kind’s histories, given the read of its items. */
export const createHistoryReads = (
  options: HistoryOptions,
): ((kind: Kind, read: (reader: Reader) => Promise<unknown>) => HistoryRead) => {
  const { domain } = options;
  const readHistory = createHistory(options);
  return (kind, read) => async (reader, asked) => {
    const { caller, charge } = reader;
    await mayReadNow(() => read(reader), isAuditor(caller, readingOf(domain, kind)));
    const id = pathId(reader.id);
    if (id === undefined) throw new Rejection(notFound(kind));
    const path = `${pathOf(domain, kind, id)}/history`;
    const { after, before, limit = LIMIT_DEFAULT } = asked;
    const placeAt = (text: string | undefined) =>
      text === undefined ? undefined : parseKey<number>(path, 'number', text);
    const isUpward = before !== undefined;
    const page = await readHistory(
      { kind, id, caller, charge },
      { below: placeAt(after), above: placeAt(before), isUpward, limit },
    );
    return { kind: 'list', items: page.entries, links: linksOf(path, asked, page) };
  };
};

/**
 * A page may be short or empty and still have others beyond it, because the caller may see few of the entries
 * examined.
 */
const linksOf = (
  path: string,
  { limit, after, before }: Page,
  { entries, hasMore, lookedAt, isFull }: HistoryPage,
): ListAnswer['links'] => {
  const isUpward = before !== undefined;
  const [newest, oldest] = [entries[0]?.version, entries.at(-1)?.version];
  const older = isUpward || isFull ? oldest : lookedAt;
  const newer = isUpward && !isFull ? lookedAt : newest;
  const hasOlder = isUpward || hasMore;
  const hasNewer = isUpward ? hasMore : after !== undefined;
  const cursorAt = (version: number | undefined) =>
    version === undefined ? undefined : formatKey(path, version);
  return linksOfPage(
    path,
    { limit, after, before },
    { previous: hasNewer ? cursorAt(newer) : undefined, next: hasOlder ? cursorAt(older) : undefined },
  );
};
