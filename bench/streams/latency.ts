import { once } from 'node:events';
import { Agent, type ClientRequest, get, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedPostgres } from '../../adapters/embedded-postgres/embedded.ts';
import { startKafka } from '../../test/engines/kafka.ts';
import { startAnnals, tokenOf } from '../processes.ts';
import { printTable, quantilesOf } from '../table.ts';
import { publishArticle, startAuthor, startWritingSide } from './installation.ts';

export type Latency = {
  readonly rate: number;
  readonly readers: number;
  readonly seconds: number;
  readonly isByKafka: boolean;
};

type Site = {
  readonly writeUrl: string;
  readonly readUrl: string;
  readonly token: string;
  /** The article that gets the comments. */
  readonly articleId: number;
};

/**
 * At a steady rate, independent of earlier answers: each write has a due time, and its latency counts from
 * then.
 */
export const measureLatency = async (dataDir: string, latency: Latency): Promise<void> => {
  await using running = new AsyncDisposableStack();
  const site = await (latency.isByKafka ? startApart(dataDir, running) : startInOne(dataDir, running));
  await measure(site, { ...latency, seconds: WARM_UP_S });
  const { writes, isSteady } = await measure(site, latency);
  const topology = latency.isByKafka ? 'roles apart, Kafka' : 'all roles in one process';
  const row = (title: string, values: readonly number[]): readonly string[] => {
    const quantile = quantilesOf(values);
    return [
      title,
      ...[0.5, 0.99, 1].map((share) => quantile(share).toFixed(1)),
      values.length.toLocaleString('en'),
    ];
  };
  printTable(
    [
      `${latency.rate} writes/s, ${latency.readers} streams, ${topology}`,
      'p50 ms',
      'p99 ms',
      'most ms',
      'count',
    ],
    [
      row(
        'due → acknowledged',
        writes.map(({ dueMs, acknowledgedMs }) => acknowledgedMs - dueMs),
      ),
      // A subscriber that gets it before the writer's answer counts as zero.
      row(
        'acknowledged → received on a stream',
        writes.flatMap(({ acknowledgedMs, receivedMs }) =>
          receivedMs.map((at) => Math.max(0, at - acknowledgedMs)),
        ),
      ),
      row(
        'acknowledged → read',
        writes.map(({ acknowledgedMs, readMs }) => readMs - acknowledgedMs),
      ),
    ],
  );
  if (!isSteady)
    console.log(
      `The clock of the writer was late by more than ${LATE_MS} ms at times: the machine is too busy for this rate.\n`,
    );
};

const WARM_UP_S = 5;

const startInOne = async (dataDir: string, running: AsyncDisposableStack): Promise<Site> => {
  const annals = running.use(await startAnnals(dataDir));
  const token = await tokenOf(
    annals,
    'read:articles write:articles publish:articles read:comments write:comments read:events',
  );
  return {
    writeUrl: annals.url,
    readUrl: annals.url,
    token,
    articleId: await publishArticle(annals.url, token),
  };
};

const startApart = async (dataDir: string, running: AsyncDisposableStack): Promise<Site> => {
  const kafka = running.use(await startKafka());
  const postgres = running.use(await startEmbeddedPostgres({ dataDir }));
  const settings = { CHANGE_STREAM_URL: kafka.url('bench.changes') };
  const side = running.use(await startWritingSide({ databaseUrl: postgres.url, dataDir, settings }));
  const { url } = running.use(await side.startQuery());
  const { token, publish } = await startAuthor(side);
  return { writeUrl: side.commandUrl, readUrl: url, token, articleId: await publish() };
};

/** Times of a write: due, acknowledged, received by each stream, and answered to a read that waits for it. */
type Write = {
  readonly dueMs: number;
  acknowledgedMs: number;
  readMs: number;
  readonly receivedMs: number[];
};

const LATE_MS = 20;
const HEARD_MS = 30_000;
const LOOK_MS = 20;

const measure = async (site: Site, { rate, readers, seconds }: Omit<Latency, 'isByKafka'>) => {
  const writes: Write[] = [];
  await using streams = new AsyncDisposableStack();
  const agent = streams.adopt(new Agent({ keepAlive: true }), (used) => used.destroy());
  const run = `${performance.now()}`;
  const receive = (text: string): void => {
    for (const [, number] of text.matchAll(new RegExp(`"text":"${run} (\\d+)"`, 'g')))
      writes[Number(number)]?.receivedMs.push(performance.now());
  };
  for (let reader = 0; reader < readers; reader += 1)
    streams.adopt(await follow(site, receive), (stream) => void stream.destroy());
  const startMs = performance.now();
  const underWay: Promise<void>[] = [];
  let isSteady = true;
  for (let number = 0; number < rate * seconds; number += 1) {
    const dueMs = startMs + (number * 1_000) / rate;
    while (performance.now() < dueMs) await delay(Math.max(1, dueMs - performance.now()));
    if (performance.now() - dueMs > LATE_MS) isSteady = false;
    const write = { dueMs, acknowledgedMs: 0, readMs: 0, receivedMs: [] };
    writes.push(write);
    underWay.push(comment(site, agent, { write, text: `${run} ${number}` }));
  }
  await Promise.all(underWay);
  const endMs = performance.now() + HEARD_MS;
  while (writes.some(({ receivedMs }) => receivedMs.length < readers)) {
    if (performance.now() > endMs) throw new Error('not all writes were received');
    await delay(LOOK_MS);
  }
  if (writes.some(({ receivedMs }) => receivedMs.length > readers))
    throw new Error('some writes were received twice');
  return { writes, isSteady };
};

const follow = async (
  { readUrl, token, articleId }: Site,
  receive: (text: string) => void,
): Promise<ClientRequest> => {
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}` };
  const asked = get(`${readUrl}/events?types=comment.added&article=${articleId}`, { headers, agent: false });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`no stream: ${response.statusCode}`);
  let rest = '';
  response.setEncoding('utf8').on('data', (part: string) => {
    const end = part.lastIndexOf('\n\n');
    if (end >= 0) receive(rest + part.slice(0, end));
    rest = end < 0 ? rest + part : part.slice(end);
  });
  response.on('error', () => {});
  return asked;
};

type Commenting = { readonly write: Write; readonly text: string };

const comment = async (
  { writeUrl, readUrl, token, articleId }: Site,
  agent: Agent,
  { write, text }: Commenting,
): Promise<void> => {
  const headers = { authorization: `Bearer ${token}` };
  const sent = request(`${writeUrl}/articles/${articleId}/comments`, {
    method: 'POST',
    agent,
    headers: { ...headers, 'content-type': 'application/json' },
  });
  sent.end(JSON.stringify({ text }));
  const written = await answerTo(sent, 201);
  write.acknowledgedMs = performance.now();
  const { id, cursor } = JSON.parse(written);
  await answerTo(
    get(`${readUrl}/comments/${id}`, { agent, headers: { ...headers, 'consistency-token': cursor } }),
    200,
  );
  write.readMs = performance.now();
};

const answerTo = async (asked: ClientRequest, status: number): Promise<string> => {
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of response.setEncoding('utf8')) text += part;
  if (response.statusCode !== status) throw new Error(`${asked.path}: ${response.statusCode} ${text}`);
  return text;
};
