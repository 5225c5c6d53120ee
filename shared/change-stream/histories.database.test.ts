import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Position, StreamName, UserId } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { type ChangeReading, openChangeReading } from '../../test/engines/change-reading.ts';
import type { ArticleId, CommentId } from '../../test/publishing-ids.ts';
import { scaled } from '../../testing/load.ts';
import type { Change } from './change-stream.ts';
import type { ChangeReader } from './changes.ts';

/** Null for a deleted article. */
type Status = 'draft' | 'published' | null;
type Step = { readonly kind: (typeof KINDS)[number]; readonly article: number };
type Happening = {
  readonly stream: StreamName;
  readonly event: AnnalsEvent;
  readonly resource: Change['resource'] | undefined;
};

const KINDS = [
  'draft',
  'draft',
  'publish',
  'publish',
  'unpublish',
  'edit',
  'delete',
  'comment',
  'comment',
  'comment',
  'inside',
] as const;
const ARTICLES = 4;
const COMMENTER = 9 as UserId;
/** The number of ids that only this history has. */
const IDS = 1_000;

/**
 * Turns steps into possible events, and folds them on the way: the owner, and the state of the article, at
 * each.
 */
const foldHistory = (steps: readonly Step[], firstId: number): readonly Happening[] => {
  const statuses = new Map<number, Status>();
  return steps.flatMap(({ kind, article }, index): Happening[] => {
    const before = statuses.get(article);
    const articleId = (firstId + article) as ArticleId;
    const authorId = ((article % 2) + 1) as UserId;
    const mark = { articleId, authorId };
    const happens = (event: AnnalsEvent, after: Status): Happening[] => {
      statuses.set(article, after);
      const articleStatus = before === 'published' ? before : after;
      return [
        { stream: streamName('article', articleId), event, resource: { ownerId: authorId, articleStatus } },
      ];
    };
    if (kind === 'inside') {
      const event: AnnalsEvent = { type: 'email.released', data: { userId: COMMENTER } };
      return [{ stream: streamName('email', `x${firstId + index}`), event, resource: undefined }];
    }
    if (kind === 'draft') {
      const content = { title: 'On engines', body: 'Much.', tags: [], cover: null };
      return before === undefined
        ? happens({ type: 'article.drafted', data: { ...mark, ...content } }, 'draft')
        : [];
    }
    if (kind === 'comment') {
      if (before === undefined) return [];
      const commentId = (firstId + ARTICLES + index) as CommentId;
      const event: AnnalsEvent = {
        type: 'comment.added',
        data: { commentId, articleId, authorId: COMMENTER, text: 'Well.' },
      };
      const resource = { ownerId: COMMENTER, articleAuthorId: authorId, articleStatus: before };
      return [{ stream: streamName('comment', commentId), event, resource }];
    }
    if (before === undefined || before === null) return [];
    if (kind === 'edit') return happens({ type: 'article.edited', data: { ...mark, title: 'New' } }, before);
    if (kind === 'delete') return happens({ type: 'article.deleted', data: mark }, null);
    if (kind === 'publish')
      return before === 'draft' ? happens({ type: 'article.published', data: mark }, 'published') : [];
    return before === 'published' ? happens({ type: 'article.unpublished', data: mark }, 'draft') : [];
  });
};

type Following = {
  /**
   * The part of the history that exists when it begins, its starting point in that part, and the number of
   * its events.
   */
  readonly begins: number;
  readonly from: number;
  readonly hears: number;
  readonly pageSizes: readonly number[];
  readonly tellsAfter: boolean;
};

type Follower = Following & {
  readonly reader: ChangeReader;
  readonly after: Position;
  readonly until: Position;
};

/** Follows the log while it is written, in pages of random size. */
const follow = async (
  { eventLog }: ChangeReading,
  { reader, after, until, pageSizes, tellsAfter }: Follower,
) => {
  const changes: Change[] = [];
  let last = after;
  let turn = 0;
  for await (const events of eventLog.follow(after, new AbortController().signal)) {
    const waiting: RecordedEvent[] = [...events];
    while (waiting.length > 0) {
      const page = await reader.toPage(
        waiting.splice(0, pageSizes[turn % pageSizes.length]),
        tellsAfter ? last : undefined,
      );
      turn += 1;
      changes.push(...page.changes);
      last = page.upTo;
    }
    if (last >= until) break;
  }
  return { after, until, changes: changes.filter(({ position }) => position <= until) };
};

const steps = fc.array(fc.record({ kind: fc.constantFrom(...KINDS), article: fc.nat(ARTICLES - 1) }), {
  minLength: 10,
  maxLength: 60,
});
const part = fc.double({ min: 0, max: 1, noNaN: true });
const following = fc.record({
  begins: part,
  from: part,
  hears: part,
  pageSizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
  tellsAfter: fc.boolean(),
});

/** The positions of the events, and the changes that each follower received. */
const writeAndFollow = async (
  reading: ChangeReading,
  history: readonly Happening[],
  followings: readonly Following[],
  reader: ChangeReader,
) => {
  const start = await reading.eventLog.head();
  const end = start + history.length;
  const written: Position[] = [];
  const running: ReturnType<typeof follow>[] = [];
  for (const [index, { stream, event }] of history.entries()) {
    for (const one of followings) {
      if (Math.floor(one.begins * (history.length - 1)) !== index) continue;
      const after = (start + Math.floor(one.from * index)) as Position;
      const until = Math.min(end, after + 1 + Math.floor(one.hears * history.length)) as Position;
      running.push(follow(reading, { ...one, reader, after, until }));
    }
    written.push(await reading.record(stream, event));
  }
  return { written, told: await Promise.all(running) };
};

test(
  'the visibility of articles equals a fold of the log, wherever a follower begins, and however small the cache',
  async () => {
    await using reading = await openChangeReading();
    let histories = 0;
    const property = fc.asyncProperty(
      steps,
      fc.array(following, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(4, 12, 100_000),
      fc.array(fc.nat(30), { minLength: 1, maxLength: 10 }),
      async (given, followings, stepsMax, turns) => {
        histories += 1;
        const history = foldHistory(given, 1 + IDS * histories);
        let reads = 0;
        /** The result of a read may be old when it arrives. */
        const onTheWay = async () => {
          reads += 1;
          for (let turn = turns[reads % turns.length] ?? 0; turn > 0; turn -= 1) await setImmediate();
        };
        const { reader } = reading.createReader({ stepsMax, onTheWay });
        const { written, told } = await writeAndFollow(reading, history, followings, reader);
        const expected = history.flatMap(({ event: { type }, resource }, index) => {
          const position = written[index];
          return resource && position !== undefined ? [{ position, type, resource }] : [];
        });
        for (const { after, until, changes } of told) {
          const facts = changes.map(({ position, type, resource }) => ({ position, type, resource }));
          expect(facts).toEqual(expected.filter(({ position }) => position > after && position <= until));
        }
      },
    );
    await fc.assert(property, { numRuns: 100 });
  },
  scaled(120_000),
);
