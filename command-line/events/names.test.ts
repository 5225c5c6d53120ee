import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { Event } from '#shared/rest/events.ts';
import { summaryLine } from './lines.ts';
import { askForNames, createNames } from './names.ts';

const plain = (_tone: string, text: string): string => text;

const event = (subject: string, actor: string | null): Event =>
  ({
    ...{ at: '2026-01-02T03:04:05.000Z', subject, type: 'article.drafted', actor, data: { n: 1 } },
  }) as unknown as Event;

const remoteWith = (items: Readonly<Record<string, object>>) => {
  const asked: string[] = [];
  const get = async <T>(path: string): Promise<T> => {
    asked.push(path);
    if (items[path] === undefined) throw new Error('there is no such item');
    return items[path] as T;
  };
  return { asked, get };
};

test('events name items and people that the caller may read, and ask once for each', async () => {
  const remote = remoteWith({
    '/articles/8001': { title: 'On engines\u001b[2J' },
    '/users/7001': { name: 'Ada' },
  });
  const names = createNames(remote, publishing);
  const events = [event('article-8001', 'user:7001'), event('article-9', 'user:7001')];
  await askForNames(events, names);
  const lines = await Promise.all(events.map((each) => summaryLine(each, plain, names)));
  expect(lines).toEqual([
    '2026-01-02T03:04:05.000Z  article-8001 (On engines\\u001b[2J)  article.drafted  by Ada (user:7001)  {"n":1}',
    '2026-01-02T03:04:05.000Z  article-9  article.drafted  by Ada (user:7001)  {"n":1}',
  ]);
  expect(remote.asked.toSorted()).toEqual(['/articles/8001', '/articles/9', '/users/7001']);
});

test('what has no name stays as it is', async () => {
  const remote = remoteWith({});
  const names = createNames(remote, publishing);
  const lines = [event('session-abc', null), event('constructor-1', 'system:process-manager')];
  expect(await Promise.all(lines.map((each) => summaryLine(each, plain, names)))).toEqual([
    '2026-01-02T03:04:05.000Z  session-abc  article.drafted  by an unknown actor  {"n":1}',
    '2026-01-02T03:04:05.000Z  constructor-1  article.drafted  by system:process-manager  {"n":1}',
  ]);
  expect(remote.asked).toEqual([]);
});

test('a long run asks for a bounded number of names', async () => {
  const remote = remoteWith({});
  const names = createNames(remote, publishing);
  for (let id = 1; id <= 700; id += 1) await names(`article-${id}`);
  expect(remote.asked).toHaveLength(500);
});
