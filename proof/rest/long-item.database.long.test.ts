import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { EventId, StreamName, Version } from '#kernel/base/brands.ts';
import { test as base } from '../../test/engines/backend.ts';
import { untilProjected } from '../../test/engines/projection.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { readChainEnd } from '../stored/blocks.ts';
import { checkItemProof } from '../tree/item-file.ts';
import { parseVerifierKey } from '../tree/note.ts';

const LENGTH = 10_000;
const AT_ONCE = 500;

const test = base.extend('article', { scope: 'file' }, async ({ author, backend, write }, { onCleanup }) => {
  const article = await write(author, 'POST', '/articles', { title: 'A long one', body: '', tags: [] });
  const { eventLog, codec } = backend.side;
  const stream = `article-${article}` as StreamName;
  for (let version = 1; version < LENGTH; version += AT_ONCE) {
    const count = Math.min(AT_ONCE, LENGTH - version);
    const metadata = {
      ...{ actor: `user:${author.id}` as const, client: null, request: 'test', correlation: 'test' },
      ...{ causation: null, at: new Date(Date.UTC(2026, 0, 1) + version).toISOString() },
    } as const;
    const events = Array.from({ length: count }, (_, at) => ({
      id: randomUUID() as EventId,
      event: {
        type: 'article.edited',
        data: { articleId: article, authorId: author.id, title: `Title ${version + at}` },
      } as never,
    }));
    await eventLog.append(stream, version as Version, await codec.encodeAll(stream, metadata, events));
  }
  const chain = await backend.startChain();
  onCleanup(() => chain[Symbol.asyncDispose]());
  const head = await eventLog.head();
  await until(
    () => readChainEnd(backend.side.pool),
    ({ position }) => position >= head,
    scaled(60_000),
  );
  await untilProjected(backend.side, scaled(60_000));
  return article;
});

test('an item of ten thousand events is sent as it is read, and proven', {
  timeout: scaled(180_000),
}, async ({ admin, article, backend }) => {
  const url = `${backend.url}/articles/${article}/proof`;
  const response = await fetch(url, { headers: await backend.authorization(admin) });
  expect(response.status).toBe(200);
  const parts: string[] = [];
  let bytes = 0;
  const decoder = new TextDecoder();
  for await (const part of response.body ?? []) {
    bytes += part.length;
    parts.push(decoder.decode(part, { stream: true }));
  }
  // The response came in many parts, and no part has much of it.
  expect(parts.length).toBeGreaterThan(20);
  const { body } = await backend.ask('/audit/keys', {});
  const [{ vkey }] = (body as { readonly keys: readonly [{ readonly vkey: string }] }).keys;
  const key = parseVerifierKey(vkey);
  const checked = checkItemProof(parts.join(''), key === undefined ? [] : [key]);
  expect(checked.isProven && checked.events.length).toBe(LENGTH);
  console.log(`${LENGTH} events are proven in ${Math.round(bytes / 1_000)} kB`);
});
