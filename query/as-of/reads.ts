import type { Pool } from '#shared/database/pool.ts';
import { notFound, Rejection } from '#shared/rejection.ts';
import { pathId } from '#shared/rest/path-id.ts';
import type { ItemAnswer, ReadAnswer } from '#shared/rest/reads/answer.ts';
import type { Reader, Reads } from '../read-routes.ts';
import { demandSource, type Source, sourcesOf } from '../sources.ts';
import { webhookOwnerFor } from '../webhooks/reads.ts';
import type { Kind } from './aggregates.ts';
import { createItemReader, isAuditor, mayReadNow } from './items.ts';
import { listedThen, webhooksThen } from './listed.ts';
import { demandCreationOrder, demandParent, readListThen } from './lists.ts';
import { createMomentFinder } from './moment.ts';
import type { PastOptions } from './options.ts';
import { createPastOpener, type Past } from './past.ts';

/** The reads that can be asked for as of then. */
type ReadId =
  | 'getUser'
  | 'getArticle'
  | 'getComment'
  | 'getWebhook'
  | 'listUsers'
  | 'listArticles'
  | 'listArticlesOfUser'
  | 'listComments'
  | 'listWebhooks';
type ReadsThen = Pick<Reads, ReadId>;

/** The same reads, answered as of `at` where that is asked for. */
export const readsAsOf = (now: ReadsThen, options: PastOptions): ReadsThen => {
  const then = createReadsThen(now, options);
  const either =
    <Asked extends { readonly at?: string | undefined }>(
      readNow: (reader: Reader, asked: Asked) => Promise<ReadAnswer>,
      readThen: (reader: Reader, asked: Asked & { readonly at: string }) => Promise<ReadAnswer>,
    ) =>
    (reader: Reader, asked: Asked): Promise<ReadAnswer> =>
      asked.at === undefined ? readNow(reader, asked) : readThen(reader, { ...asked, at: asked.at });
  return {
    getUser: either(now.getUser, then.getUser),
    getArticle: either(now.getArticle, then.getArticle),
    getComment: either(now.getComment, then.getComment),
    getWebhook: either(now.getWebhook, then.getWebhook),
    listUsers: either(now.listUsers, then.listUsers),
    listArticles: either(now.listArticles, then.listArticles),
    listArticlesOfUser: either(now.listArticlesOfUser, then.listArticlesOfUser),
    listComments: either(now.listComments, then.listComments),
    listWebhooks: either(now.listWebhooks, then.listWebhooks),
  };
};

type AskedOf<Id extends ReadId> = Parameters<Reads[Id]>[1] & { readonly at: string };
type Then = { readonly [Id in ReadId]: (reader: Reader, asked: AskedOf<Id>) => Promise<ReadAnswer> };

const createReadsThen = (now: ReadsThen, options: PastOptions): Then => {
  const findMoment = createMomentFinder(options);
  const openPast = createPastOpener(options);
  const readItem = createItemReader({ findMoment, openPast });
  const itemOf =
    (kind: Kind, read: (reader: Reader) => Promise<unknown>) =>
    (reader: Reader, { at }: { readonly at: string }): Promise<ItemAnswer> =>
      readItem({ kind, now: read }, reader, at);
  return {
    getUser: itemOf('user', (reader) => now.getUser(reader, {})),
    getArticle: itemOf('article', (reader) => now.getArticle(reader, {})),
    getComment: itemOf('comment', (reader) => now.getComment(reader, {})),
    getWebhook: itemOf('webhook', (reader) => now.getWebhook(reader, {})),
    ...createListsThen(now, {
      pool: options.pool,
      of: (kind) => demandSource(sourcesOf(options.domain), kind),
      open: async ({ charge }, at) => openPast(await findMoment(at, charge), charge),
    }),
  };
};

type Opened = { readonly pool: Pool; of(kind: Kind): Source; open(reader: Reader, at: string): Promise<Past> };

const createListsThen = (
  now: ReadsThen,
  { pool, of, open }: Opened,
): Omit<Then, 'getUser' | 'getArticle' | 'getComment' | 'getWebhook'> => ({
  async listUsers(reader, asked) {
    const past = await open(reader, asked.at);
    return readListThen(
      { pool, past, reader },
      { kind: 'user', path: '/users', asked, ...listedThen(past, reader.caller, { source: of('user'), under: undefined, filter: {} }) },
    );
  },
  async listArticles(reader, asked) {
    demandCreationOrder(asked);
    const past = await open(reader, asked.at);
    const listed = listedThen(past, reader.caller, { source: of('article'), under: undefined, filter: asked });
    return readListThen({ pool, past, reader }, { kind: 'article', path: '/articles', asked, ...listed });
  },
  async listArticlesOfUser(reader, asked) {
    demandCreationOrder(asked);
    await demandNow('user', reader, () => now.listArticlesOfUser(reader, { limit: 1 }));
    const past = await open(reader, asked.at);
    const author = await demandParent({ kind: 'user', past, reader });
    const listed = listedThen(past, reader.caller, { source: of('article'), under: { column: 'author_id', id: author }, filter: asked });
    return readListThen({ pool, past, reader }, { kind: 'article', path: `/users/${author}/articles`, asked, ...listed });
  },
  async listComments(reader, asked) {
    await demandNow('article', reader, () => now.listComments(reader, { limit: 1 }));
    const past = await open(reader, asked.at);
    const articleId = await demandParent({ kind: 'article', past, reader });
    const listed = listedThen(past, reader.caller, { source: of('comment'), under: { column: 'article_id', id: articleId }, filter: {} });
    return readListThen({ pool, past, reader }, { kind: 'comment', path: `/articles/${articleId}/comments`, asked, ...listed });
  },
  async listWebhooks(reader, asked) {
    const past = await open(reader, asked.at);
    const owner = webhookOwnerFor(reader.caller, asked.owner);
    const listed = webhooksThen(past, reader.caller, { owner: owner === 'nobody' ? NOBODY : owner, enabled: asked.enabled });
    return readListThen({ pool, past, reader }, { kind: 'webhook', path: '/webhooks', asked, ...listed });
  },
});

const NOBODY = 0;

/** Of what is not there now, only auditors are told. */
const demandNow = async (kind: Kind, reader: Reader, read: () => Promise<unknown>): Promise<void> => {
  const isThere = await mayReadNow(read, isAuditor(reader.caller, kind));
  if (!isThere && pathId(reader.id) === undefined) throw new Rejection(notFound(kind));
};
