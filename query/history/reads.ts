import { notFound, Rejection } from '#shared/rejection.ts';
import { LIMIT_DEFAULT } from '#shared/rest/lists.ts';
import { pathId } from '#shared/rest/path-id.ts';
import type { ListAnswer } from '#shared/rest/reads/answer.ts';
import { formatKey, parseKey } from '#shared/webhooks/pages.ts';
import type { Kind } from '../as-of/aggregates.ts';
import { isAuditor, mayReadNow } from '../as-of/items.ts';
import type { Reader, Reads } from '../read-routes.ts';
import { createHistory, type HistoryOptions, type HistoryPage } from './history.ts';

type HistoryId = 'listUserHistory' | 'listArticleHistory' | 'listCommentHistory' | 'listWebhookHistory';
type Asked = Parameters<Reads['listArticleHistory']>[1];

/** Histories of what a caller may read now; auditors are told those of what is deleted too. */
export const historyReads = (
  now: Pick<Reads, 'getUser' | 'getArticle' | 'getComment' | 'getWebhook'>,
  options: HistoryOptions,
): Pick<Reads, HistoryId> => {
  const readHistory = createHistory(options);
  const historyOf =
    (kind: Kind, read: (reader: Reader) => Promise<unknown>) =>
    async (reader: Reader, asked: Asked): Promise<ListAnswer> => {
      const { caller, charge } = reader;
      await mayReadNow(() => read(reader), isAuditor(caller, kind));
      const id = pathId(reader.id);
      if (id === undefined) throw new Rejection(notFound(kind));
      const path = `/${kind}s/${id}/history`;
      const { after, before, limit = LIMIT_DEFAULT } = asked;
      const placeAt = (text: string | undefined) => (text === undefined ? undefined : parseKey<number>(path, 'number', text));
      const isUpward = before !== undefined;
      const page = await readHistory({ kind, id, caller, charge }, { below: placeAt(after), above: placeAt(before), isUpward, limit });
      return { kind: 'list', items: page.entries, links: linksOf(path, asked, page) };
    };
  return {
    listUserHistory: historyOf('user', (reader) => now.getUser(reader, {})),
    listArticleHistory: historyOf('article', (reader) => now.getArticle(reader, {})),
    listCommentHistory: historyOf('comment', (reader) => now.getComment(reader, {})),
    listWebhookHistory: historyOf('webhook', (reader) => now.getWebhook(reader, {})),
  };
};

/** A page may be shorter, or empty, and have others behind it: of what was looked at the caller may know of little. */
const linksOf = (
  path: string,
  { limit, after, before }: Asked,
  { entries, hasMore, lookedAt, isFull }: HistoryPage,
): ListAnswer['links'] => {
  const href = (place: Readonly<Record<string, string | undefined>>): string => {
    const given = Object.entries({ limit: limit?.toString(), ...place }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as [string, string]],
    );
    return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
  };
  const isUpward = before !== undefined;
  const [newest, oldest] = [entries[0]?.version, entries.at(-1)?.version];
  const older = isUpward || isFull ? oldest : lookedAt;
  const newer = isUpward && !isFull ? lookedAt : newest;
  const hasOlder = isUpward || hasMore;
  const hasNewer = isUpward ? hasMore : after !== undefined;
  return {
    self: href({ after, before }),
    ...((after ?? before) !== undefined && { first: href({}) }),
    ...(hasNewer && newer !== undefined && { prev: href({ before: formatKey(path, newer) }) }),
    ...(hasOlder && older !== undefined && { next: href({ after: formatKey(path, older) }) }),
  };
};
