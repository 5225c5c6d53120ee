import { pino } from 'pino';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { Position } from '#kernel/base/brands.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import type { Change, ChangePage } from '#shared/change-stream/change-stream.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { cohort, createReader } from '../../test/engines/feed-fixture.ts';
import { openFeed } from './feed.ts';

const at = (position: number) => position as Position;

/** A change stream that the test writes to. */
const writtenHere = () => {
  const written: ChangePage[] = [];
  let next = Promise.withResolvers<void>();
  return {
    write(told: Pick<Change, 'type' | 'right' | 'resource'>) {
      const position = at(written.length + 1);
      const stream = `${told.type.split('.', 1)}-${position}`;
      const change = {
        position,
        stream,
        data: {},
        isParked: false,
        origin: null,
        at: new Date(0).toISOString(),
        ...told,
      };
      written.push({ changes: [change as unknown as Change], upTo: position });
      next.resolve();
      next = Promise.withResolvers();
    },
    changes: {
      head: async () => at(written.length),
      async *follow(after: Position, signal: AbortSignal) {
        const aborted = new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => resolve(), { once: true }),
        );
        for (let index: number = after; !signal.aborted; ) {
          const page = written[index];
          if (page === undefined) await Promise.race([next.promise, aborted]);
          else {
            index += 1;
            yield page;
          }
        }
      },
      [Symbol.asyncDispose]: async () => {},
    },
  };
};

const edited = {
  type: 'article.edited',
  right: 'article.read',
  resource: { articleStatus: 'published' },
} as const;

test.each([
  [1, 'webhook.deleted', 'webhook.manage', {}],
  [1, 'client.deleted', 'user.read_private', {}],
  [1, 'account.passkey_removed', 'user.read_private', {}],
  [1, 'article.published', 'article.read', { articleStatus: 'published' }],
  [1, 'article.drafted', 'article.read', { articleStatus: 'draft' }],
  [2, 'article.unpublished', 'article.read', { articleStatus: 'published' }],
  [2, 'article.deleted', 'article.read', { articleStatus: 'published' }],
  [2, 'article.deleted', 'article.read', { articleStatus: 'deleted' }],
  [2, 'comment.deleted', 'comment.read', { articleStatus: 'published' }],
  [2, 'user.deleted', 'user.read', {}],
  [2, 'article.vanished', 'article.read', {}],
] as const)(
  'a change is rendered %i times when it is read again after %s, of which the right is %s %j',
  async (times, type, right, resource) => {
    const { changes, write } = writtenHere();
    await using feed = await openFeed({
      domain: publishing,
      changes,
      moveOnMs: 1_000,
      log: pino({ level: 'silent' }),
      clock: REAL_TIME,
      metrics: createMetrics(),
    });
    let rendered = 0;
    const of = cohort('counted', async ({ type: of }) => {
      if (of === edited.type) rendered += 1;
      return Buffer.from('x\n');
    });
    const reader = createReader(feed, { after: 'now', of });
    write(edited);
    await reader.untilReceived(1);
    write({ type, right, resource });
    await reader.untilReceived(2);
    await createReader(feed, { after: at(0), of }).untilReceived(2);
    expect(rendered).toBe(times);
  },
);
