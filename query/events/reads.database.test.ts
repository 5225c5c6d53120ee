import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { formatCursor } from '#kernel/base/cursor.ts';
import { createChangeReader } from '#shared/change-stream/changes.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { context } from '../../test/codec-fixture.ts';
import { test } from '../../test/engines/backend.ts';
import { as, draftArticle } from '../../test/engines/command-side.ts';
import { smallPages } from '../../test/engines/small-pages.ts';
import { firstAfter } from './first-after.ts';
import { eventReads } from './reads.ts';
import { createTimes } from './times.ts';
import { walkStream } from './walks.ts';

const EDITS = 1_300;
let stream: StreamName;
let events: readonly RecordedEvent[];
test.beforeAll(async ({ author, backend }) => {
  const { eventLog, codec } = backend.side;
  const articleId = await draftArticle(backend.side, author.id);
  stream = `article-${articleId}` as StreamName;
  for (let left = EDITS; left > 0; left -= 650) {
    const edits = Array.from({ length: 650 }, (_, n) => ({
      ...{
        id: randomUUID() as EventId,
        event: { type: 'article.edited' as const, data: { articleId, authorId: author.id, title: `${n}` } },
      },
    }));
    await eventLog.append(
      stream,
      'any',
      await codec.encodeAll(stream, { ...context, at: new Date().toISOString() }, edits),
    );
  }
  events = (await Array.fromAsync(eventLog.read(stream))).flat();
});
test('finding the first event after a position does not read all events before it', async ({ backend }) => {
  let reads = 0;
  const pages = smallPages(backend.side.eventLog, 10);
  const eventLog: Pick<EventLog, 'read'> = {
    read(name, from) {
      reads += 1;
      return pages.read(name, from);
    },
  };
  for (const index of [0, 4, 9, 10, 640, 999, 1_000, EDITS]) {
    reads = 0;
    const { position, version } = events[index] as RecordedEvent;
    expect(await firstAfter(eventLog, stream, position), `after version ${version}`).toBe(version + 1);
    expect(reads).toBeLessThan(25);
  }
  expect(await firstAfter(eventLog, 'article-404' as StreamName, events[0]?.position ?? (0 as never))).toBe(
    1,
  );
});

test('a page that times out still makes progress', async ({ backend }) => {
  const { side } = backend;
  const after = events[1_100] as RecordedEvent;
  const eventLog = smallPages(side.eventLog, 10);
  const walk = walkStream(
    { reader: createChangeReader({ ...side, eventLog }), eventLog },
    stream,
    await side.eventLog.head(),
  );
  const pages = await Array.fromAsync(walk(after.position, AbortSignal.abort()));
  expect(pages).toHaveLength(1);
  expect(pages[0]?.changes[0]?.version).toBe(after.version + 1);
});

test('reading a stream for a page is charged', async ({ author, backend }) => {
  const { side } = backend;
  const head = await side.eventLog.head();
  let charged = 0;
  const { listEvents } = eventReads({
    ...side,
    changes: { head: async () => head },
    times: createTimes(side),
    represent: async (change) => change as never,
    publicUrl: 'https://annals.example',
  });
  const charge = async (units: number) => {
    charged += units;
  };
  const after = formatCursor(side.eventLog.identity, events[2]?.position as never);
  const reader = { caller: as(author.id, author.role), id: '', charge };
  const page = await listEvents(reader, { subject: stream, after, limit: 5 } as never);
  expect(page).toMatchObject({ items: [{ version: 4 }, {}, {}, {}, {}] });
  expect(charged).toBeGreaterThanOrEqual(2);
});
