// One function, because each record of a correct history follows from the one before.
import type { CheckpointMove, History, Leaves, LogEntry, Read, Write } from '../history.ts';

type Options = { readonly hasComments?: boolean };

/**
 * A correct history: a number of articles that one client has written, published, changed and deleted; if
 * asked for, each with a comment, which ends with it.
 */
export const rightHistory = (articles: number, { hasComments = false }: Options = {}): History => {
  const log: LogEntry[] = [];
  const writes: Write[] = [];
  const reads: Read[] = [];
  const append = (
    stream: string,
    type: string,
    { request, data, causation = null }: Pick<LogEntry, 'request' | 'data'> & Partial<LogEntry>,
  ): LogEntry => {
    const version = log.filter((entry) => entry.stream === stream).length + 1;
    const entry = {
      id: `event-${log.length + 1}`,
      type,
      stream,
      version,
      position: log.length + 1,
      request,
      at: `2026-01-01T00:00:${String(log.length).padStart(2, '0')}.000Z`,
      data,
      isConsequence: causation !== null,
      causation,
    };
    log.push(entry);
    return entry;
  };
  let nowMs = 0;
  const tick = (): number => (nowMs += 10);
  const write = (target: string, leaves: Leaves, state?: 'gone'): LogEntry | undefined => {
    const request = `request-${writes.length + 1}`;
    const startMs = tick();
    const stream = target.replace(/^\/(\w+)s\//, '$1-');
    const last = Object.entries(leaves)
      .map(([type, data]) => append(stream, type, { request, data }))
      .at(-1);
    const { title } = last?.data ?? {};
    const { position = 0, version = 0 } = last ?? {};
    const more = { leaves, target, state: state ?? version, isVisible: true, position };
    writes.push({
      request,
      client: 'ada',
      what: Object.keys(leaves)[0] ?? '',
      startMs,
      endMs: tick(),
      attempts: 1,
      outcome: 'acknowledged',
      ...more,
    });
    reads.push({
      client: 'ada',
      target,
      startMs: tick(),
      endMs: tick(),
      isConsistent: true,
      found: state ?? version,
      ...(title !== undefined && { shows: { title } }),
    });
    return last;
  };
  for (let article = 1; article <= articles; article += 1) {
    const target = `/articles/${article}`;
    const id = { articleId: article };
    write(target, { 'article.drafted': { ...id, title: `Title ${article}` }, 'article.published': id });
    write(target, { 'article.edited': { ...id, title: `Other ${article}` } });
    if (hasComments)
      write(`/comments/${article}`, { 'comment.added': { ...id, commentId: article, text: 'Yes' } });
    const gone = write(target, { 'article.deleted': id }, 'gone');
    const follows = { request: 'process-manager', data: { ...id, commentId: article } };
    if (hasComments && gone)
      append(`comment-${article}`, 'comment.deleted', { ...follows, causation: gone.id });
  }
  const ids = log.map(({ id }) => id);
  const contents = log.map(({ id, position, type, stream, at, data }) => ({
    ...{ id, type, data },
    ...{ cursor: `c-${position.toString(36)}`, subject: stream, time: at },
  }));
  const received = contents.map((content) => ({
    ...{ id: content.id, cursor: content.cursor, content },
    ...{ body: `body of ${content.id}`, isAccepted: true },
  }));
  const messages = contents.map(({ cursor, type }) => `${cursor} ${type}`);
  return {
    ...{ seed: 1, faults: [], writes, reads, log, ends: [{ ...END, code: 'SIGKILL', isExpected: true }] },
    feeds: [{ name: 'reader', expected: messages, received: messages, contents, visits: 1 }],
    deliveries: [
      {
        name: 'sink',
        isOrdered: true,
        expected: ids,
        takenBack: [],
        received,
        ledger: ids.map((id) => ({ id, state: 'delivered' })),
      },
    ],
    moves: movesTo(log.length),
    memory: [{ name: 'query 0', atMs: 1, bytes: 200 * 1_048_576 }],
    proof: { exit: 0, said: '' },
  };
};

const END = { name: 'query 0', atMs: 1, isDuringStart: false, said: '' };

/** The projector moves before the publisher, two events at a time. */
const movesTo = (head: number): readonly CheckpointMove[] => {
  const moves: CheckpointMove[] = [];
  for (let from = 0; from < head; from += 2) {
    const to = Math.min(from + 2, head);
    moves.push({ follower: 'projector', from: from === 0 ? null : from, to, projected: to });
    moves.push({ follower: 'publisher', from: from === 0 ? null : from, to, projected: to });
  }
  return moves;
};
