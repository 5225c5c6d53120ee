import { startServer } from '../processes.ts';
import { type Crowd, gatherCrowd, type StreamRequest } from './crowd.ts';
import { post, startAuthor, type WritingSide } from './installation.ts';
import { MARK } from './mark.ts';
import { COLLECTING } from './memory.ts';
import type { Sample } from './peer.ts';

/** A server with its subscribers. */
export type Served = {
  readonly title: string;
  readonly pid: number;
  readonly crowd: Crowd;
  /** Its process is also its database. */
  readonly hasOwnDatabase?: boolean;
  /** Triggers one event. */
  happen(): Promise<unknown>;
};

const QUERY =
  'subscription ($id: ID!) { commentAdded(articleId: $id) { cursor type at comment { id text author { id name } } } }';
export const TEXT = `It can do whatever we know how to order it to perform ${MARK} and has no pretensions to originate anything.`;
export const EVENT_STREAM = 'text/event-stream';

export const subscriptionTo = (origin: string, articleId: number): StreamRequest => ({
  origin,
  head: `POST /graphql HTTP/1.1\r\nhost: ${origin.slice('http://'.length)}\r\ncontent-type: application/json\r\naccept: ${EVENT_STREAM}\r\n`,
  body: JSON.stringify({ query: QUERY, variables: { id: String(articleId) } }),
});

const eventsAt = (origin: string, articleId: number): StreamRequest => ({
  origin,
  head: `GET /events?types=comment.added&article=${articleId} HTTP/1.1\r\nhost: ${origin.slice('http://'.length)}\r\naccept: ${EVENT_STREAM}\r\n`,
  body: '',
});

type Ours = {
  readonly name: string;
  readonly requestOf: (origin: string, articleId: number) => StreamRequest;
};
const OURS: Readonly<Record<string, Ours>> = {
  graphql: { name: 'ours, GraphQL', requestOf: subscriptionTo },
  events: { name: 'ours, GET /events', requestOf: eventsAt },
};
export const RAW = 'raw sockets';
const PEERS: Readonly<Record<string, string>> = {
  'graphql-sse': 'graphql-sse, Express',
  yoga: 'GraphQL Yoga',
  raw: RAW,
};
export const CONTENDERS: readonly string[] = [...Object.keys(OURS), ...Object.keys(PEERS)];

/**
 * Starts a process for each. Ours publish the comments on an article of their own, so that each write reaches
 * one of them.
 */
export const startServers = async (
  side: WritingSide,
  names: readonly string[],
  stack: AsyncDisposableStack,
): Promise<readonly Served[]> => {
  const author = await startAuthor(side);
  const comment = (articleId: number) =>
    post(`${side.commandUrl}/articles/${articleId}/comments`, { text: TEXT }, author.token);
  const sample = await takeSample(side, { articleId: await author.publish(), token: author.token, comment });
  const served: Served[] = [];
  for (const name of names) {
    const ours = OURS[name];
    const articleId = await author.publish();
    if (ours === undefined) {
      const { url, pid } = stack.use(
        await startServer(`./streams/${name}.ts`, [JSON.stringify(sample)], COLLECTING),
      );
      const happen = () => fetch(`${url}/publish`, { method: 'POST' });
      served.push({
        title: PEERS[name] ?? name,
        pid,
        crowd: stack.use(gatherCrowd(subscriptionTo(url, articleId))),
        happen,
      });
    } else {
      const { url, pid } = stack.use(await side.startQuery(COLLECTING));
      if (pid === undefined) throw new Error('the query role has no process');
      served.push({
        title: ours.name,
        pid,
        crowd: stack.use(gatherCrowd(ours.requestOf(url, articleId))),
        happen: () => comment(articleId),
      });
    }
  }
  return served;
};

type Writing = {
  readonly articleId: number;
  readonly token: string;
  readonly comment: (articleId: number) => Promise<unknown>;
};

/** A message of ours, which the others also send. */
const takeSample = async (side: WritingSide, { articleId, token, comment }: Writing): Promise<Sample> => {
  await using query = await side.startQuery();
  const leaving = new AbortController();
  const headers = {
    'content-type': 'application/json',
    accept: EVENT_STREAM,
    authorization: `Bearer ${token}`,
  };
  const { body } = subscriptionTo(query.url, articleId);
  const response = await fetch(`${query.url}/graphql`, {
    method: 'POST',
    headers,
    body,
    signal: leaving.signal,
  });
  if (!response.ok || response.body === null) throw new Error(`no subscription: ${await response.text()}`);
  await comment(articleId);
  let text = '';
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    const [message, data] = NEXT.exec(text) ?? [];
    if (message === undefined || data === undefined) continue;
    leaving.abort();
    return { message, data: JSON.parse(data).data };
  }
  throw new Error(`there was no message but ${text}`);
};

const NEXT = /event: next\n.*\ndata: (\{.*\})\n\n/;
