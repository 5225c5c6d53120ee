import { isDeepStrictEqual } from 'node:util';
import { applyLoad, type Load } from '../load.ts';
import { type startAnnals, tokenOf } from '../processes.ts';
import { gatherCrowd } from '../streams/crowd.ts';
import { post } from '../streams/installation.ts';
import { EVENT_STREAM, type Served, subscriptionTo, TEXT } from '../streams/servers.ts';
import type { Contender } from '../turns.ts';
import { idOf, tokenOfUser } from './data.ts';
import { type PocketBase, VERSION } from './server.ts';

type Annals = Awaited<ReturnType<typeof startAnnals>>;
type Request = Pick<Load, 'url' | 'method' | 'body'> & {
  readonly headers?: Readonly<Record<string, string>>;
};

/** A request to each, by its own interface. */
export type Work = { readonly ours: () => Promise<Request>; readonly theirs: () => Promise<Request> };

const JSON_TYPE = { 'content-type': 'application/json' };
const DRAFT = { title: 'On engines', body: 'An analytical one. '.repeat(12), tags: ['engines'] };
const RECORDS = '/api/collections/articles/records';
const EXPANDED = 'expand=author';
const NEWEST = `${RECORDS}?filter=${encodeURIComponent('status="published"')}&sort=-createdAt,-id&perPage=20&skipTotal=1&${EXPANDED}`;

/** Another article each time, all over the table. */
const each = (ids: readonly number[], path: (id: number) => string): (() => string) => {
  let count = 0;
  return () => path(ids[(count++ * 7_919) % ids.length] ?? 0);
};

export const worksOf = (
  ours: Annals,
  theirs: PocketBase,
  { ids, userId }: { readonly ids: readonly number[]; readonly userId: number },
) =>
  ({
    'one item': {
      ours: async () => ({ url: each(ids, (id) => `${ours.url}/articles/${id}`) }),
      theirs: async () => ({ url: each(ids, (id) => `${theirs.url}${RECORDS}/${idOf(id)}?${EXPANDED}`) }),
    },
    'a list of 20': {
      ours: async () => ({ url: `${ours.url}/articles?status=published` }),
      theirs: async () => ({ url: theirs.url + NEWEST }),
    },
    create: {
      ours: async () => ({
        url: `${ours.url}/articles`,
        method: 'POST',
        body: JSON.stringify(DRAFT),
        headers: { ...JSON_TYPE, authorization: `Bearer ${await tokenOf(ours, 'write:articles')}` },
      }),
      theirs: async () => ({
        url: theirs.url + RECORDS,
        method: 'POST',
        body: JSON.stringify({ ...DRAFT, status: 'draft', author: idOf(userId) }),
        headers: { ...JSON_TYPE, authorization: `Bearer ${await tokenOfUser(theirs, userId)}` },
      }),
    },
  }) satisfies Record<string, Work>;

const THEIRS = `PocketBase ${VERSION}`;

export const contendersOf = (
  work: Work,
  connections: number,
  { ours, theirs }: { readonly ours: Annals; readonly theirs: PocketBase },
): readonly Contender[] => {
  const run = async (request: Promise<Request>, durationMs: number) => {
    const { headers = {}, ...rest } = await request;
    return applyLoad({ ...rest, connections, durationMs, headers: () => headers });
  };
  return [
    { title: 'ours', pid: ours.pid, run: (durationMs) => run(work.ours(), durationMs) },
    {
      title: THEIRS,
      pid: theirs.pid,
      hasOwnDatabase: true,
      run: (durationMs) => run(work.theirs(), durationMs),
    },
  ];
};

/** Another answer would be other work. */
export const compareAnswers = async (work: Work): Promise<void> => {
  const [ours, theirs] = await Promise.all(
    [work.ours, work.theirs].map(async (request) => {
      const { url } = await request();
      const response = await fetch(typeof url === 'string' ? url : url());
      const answer = (await response.json()) as Item | readonly Item[] | { readonly items: readonly Item[] };
      return ('items' in answer ? answer.items : [answer].flat()).map(contentOf);
    }),
  );
  if (!isDeepStrictEqual(ours, theirs))
    throw new Error(`${JSON.stringify(ours).slice(0, 500)}\nand not ${JSON.stringify(theirs).slice(0, 500)}`);
};

type Named = { readonly name: string };
type Item = {
  readonly id: number | string;
  readonly title: string;
  readonly body: string;
  readonly tags: readonly string[];
  readonly author: Named;
  /** Theirs has only the id in `author`. */
  readonly expand?: { readonly author: Named };
};

const contentOf = ({ id, title, body, tags, author, expand }: Item) => ({
  ...{ id: Number(id), title, body, tags },
  author: (expand?.author ?? author).name,
});

/** Both with subscribers to the comments on one article. */
export const commentsOf = async (
  ours: Annals,
  theirs: PocketBase,
  {
    size,
    userId,
    stack,
  }: { readonly size: number; readonly userId: number; readonly stack: AsyncDisposableStack },
): Promise<readonly Served[]> => {
  const token = await tokenOf(
    ours,
    'write:articles publish:articles write:comments read:comments read:users',
  );
  const { id } = await post(`${ours.url}/articles`, { ...DRAFT, publish: true }, token);
  const theirToken = await tokenOfUser(theirs, userId);
  const author = idOf(userId);
  const article = await theirs.ask<{ readonly id: string }>('POST', RECORDS, {
    ...DRAFT,
    status: 'published',
    author,
  });
  const filter = encodeURIComponent(JSON.stringify({ query: { filter: `article="${article.id}"` } }));
  const crowds = {
    ours: stack.use(gatherCrowd(subscriptionTo(ours.url, id))),
    theirs: stack.use(
      gatherCrowd({
        origin: theirs.url,
        head: `GET /api/realtime HTTP/1.1\r\nhost: ${theirs.url.slice('http://'.length)}\r\naccept: ${EVENT_STREAM}\r\n`,
        body: '',
        second: {
          url: `${theirs.url}/api/realtime`,
          body: JSON.stringify({ clientId: 'CLIENT', subscriptions: [`comments/*?options=${filter}`] }),
        },
      }),
    ),
  };
  await crowds.ours.resize(Array(size).fill(token));
  await crowds.theirs.resize(Array(size).fill(theirToken));
  const url = `${theirs.url}/api/collections/comments/records`;
  return [
    {
      title: 'ours',
      pid: Number(ours.pid),
      crowd: crowds.ours,
      happen: () => post(`${ours.url}/articles/${id}/comments`, { text: TEXT }, token),
    },
    {
      title: THEIRS,
      pid: Number(theirs.pid),
      crowd: crowds.theirs,
      hasOwnDatabase: true,
      happen: () => post(url, { text: TEXT, article: article.id, author }, theirToken),
    },
  ];
};
