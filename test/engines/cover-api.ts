import { once } from 'node:events';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { test as base, expect } from 'vitest';
import type { HttpLimits } from '#edge/http/server.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { until } from '../../testing/until.ts';
import { allEvents } from './command-side.ts';
import { ARTICLE, createWriteApi, make, type WriteAnswer, type WriteApi, type Written } from './write-api.ts';

/** An article for uploads, and the folder that stores them. */
type CoverApi = WriteApi & {
  /** The article's path, a new one for each test. */
  article: string;
  /** With an empty folder and a new article. */
  renew(): Promise<void>;
  put(body: Uint8Array, type: string, more?: Written): Promise<WriteAnswer>;
  /** Starts a raw request, to send it in pieces, unlike ordinary clients. */
  begin(headers: Readonly<Record<string, string>>): Promise<Socket>;
  /** Everything in the folder, including unfinished uploads. */
  stored(): Promise<readonly string[]>;
  /** The cover of the article according to the log. */
  coverOf(): Promise<unknown>;
  nothingHappened(): Promise<void>;
};

type CoverOptions = { limits?: Partial<HttpLimits>; wrap?: (log: EventLog) => EventLog };

const createCoverApi = async (options: CoverOptions = {}): Promise<CoverApi> => {
  const writes = await createWriteApi(options);
  const { uploads, side } = writes;
  const api: CoverApi = {
    ...writes,
    article: '',
    async renew() {
      await rm(uploads, { recursive: true, force: true });
      await mkdir(join(uploads, 'incoming'), { recursive: true });
      api.article = `/articles/${await make(writes, '/articles', ARTICLE)}`;
    },
    put: (body, type, more = {}) =>
      writes.send('PUT', `${api.article}/cover`, {
        ...more,
        body,
        headers: { 'Content-Type': type, ...more.headers },
      }),
    async begin(headers) {
      const socket = connect({
        port: Number(new URL(writes.url).port),
        host: '127.0.0.1',
        allowHalfOpen: true,
      });
      socket.on('error', () => {});
      await once(socket, 'connect');
      const all = {
        Host: 'x',
        Authorization: `Bearer ${await writes.token(writes.author)}`,
        'Content-Type': 'image/png',
        ...headers,
      };
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`PUT ${api.article}/cover HTTP/1.1\r\n${lines.join('')}\r\n`);
      return socket;
    },
    async stored() {
      const entries = await readdir(uploads, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    },
    async coverOf() {
      const stream = api.article.replace('/articles/', 'article-');
      const events = (await allEvents(side)).filter((event) => event.stream === stream);
      return events.reduce<unknown>((cover, { data }) => ('cover' in data ? data.cover : cover), null);
    },
    async nothingHappened() {
      expect(await until(api.stored, (files) => files.length === 0)).toEqual([]);
      expect(await api.coverOf()).toBeNull();
    },
  };
  return api;
};

/** One chunk of a body of unknown length (RFC 9112, section 7.1). */
export const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

/** The command role for each file, with an empty folder and a new article for each test. */
export const test = base
  .extend('coverOptions', { scope: 'file' }, {} as CoverOptions)
  .extend('covers', { scope: 'file' }, async ({ coverOptions }, { onCleanup }) => {
    const covers = await createCoverApi(coverOptions);
    onCleanup(() => covers[Symbol.asyncDispose]());
    return covers;
  })
  .extend('api', { scope: 'test' }, async ({ covers }) => {
    await covers.renew();
    return covers;
  });
