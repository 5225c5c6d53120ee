import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { context } from '../../test/codec-fixture.ts';
import { test } from '../../test/engines/backend.ts';
import { as, draftArticle } from '../../test/engines/command-side.ts';
import { eventReads } from './reads.ts';
import { createTimes } from './times.ts';

const EDITS_EACH = 650;

test.beforeAll(async ({ author, backend }) => {
  const { eventLog, codec } = backend.side;
  for (let article = 0; article < 4; article += 1) {
    const articleId = await draftArticle(backend.side, author.id);
    const stream = `article-${articleId}` as StreamName;
    const edits = Array.from({ length: EDITS_EACH }, (_, n) => ({
      id: randomUUID() as EventId,
      event: { type: 'article.edited' as const, data: { articleId, authorId: author.id, title: `${n}` } },
    }));
    const at = new Date().toISOString();
    await eventLog.append(stream, 'any', await codec.encodeAll(stream, { ...context, at }, edits));
  }
});

type Work = { events: number; readings: number; opened: number; charged: number };

/** A log that counts what is read of it. */
const counting = (eventLog: EventLog, work: Work): EventLog => {
  const count = (events: readonly RecordedEvent[]) => {
    work.events += events.length;
    work.readings += 1;
    return events;
  };
  return {
    ...eventLog,
    async *read(...asked) {
      for await (const events of eventLog.read(...asked)) yield count(events);
    },
    async *follow(...asked) {
      for await (const events of eventLog.follow(...asked)) yield count(events);
    },
    ...(eventLog.page && { page: async (...asked) => count((await eventLog.page?.(...asked)) ?? []) }),
  };
};

const EVENTS_PER_UNIT = 500;
const [OPENED, EACH_READING] = [2, 10];

for (const { query, reads } of [
  { query: { limit: 1 }, reads: 20 },
  { query: { limit: 100 }, reads: 250 },
  { query: { types: ['article.drafted'], limit: 20 }, reads: 3_000 },
  { query: { types: ['user.deleted'] }, reads: 3_000 },
  { query: { article: 404 }, reads: 3_000 },
  { query: { text: 'nowhere' }, reads: 3_000 },
])
  test(`a page costs what it reads and opens, and reads little for few events: ${JSON.stringify(query)}`, async ({
    author,
    backend,
  }) => {
    const { side } = backend;
    const work: Work = { events: 0, readings: 0, opened: 0, charged: 0 };
    const eventLog = counting(side.eventLog, work);
    const head = await side.eventLog.head();
    const { listEvents } = eventReads({
      ...{ ...side, eventLog },
      changes: { head: async () => head },
      times: createTimes(side),
      async represent({ data }) {
        work.opened += 1;
        return { data } as never;
      },
      publicUrl: 'https://annals.example',
    });
    const charge = async (units: number) => {
      work.charged += units;
    };
    await listEvents({ caller: as(author.id, author.role), id: '', charge }, query as never);
    const least = work.events + OPENED * work.opened;
    expect(work.charged).toBeGreaterThanOrEqual(Math.floor(least / EVENTS_PER_UNIT));
    expect(work.charged).toBeLessThanOrEqual((least + EACH_READING * work.readings) / EVENTS_PER_UNIT);
    expect(work.events).toBeLessThanOrEqual(reads);
  });
