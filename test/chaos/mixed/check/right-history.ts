import type { CheckpointMove, History, LogEntry, Read, Write } from '../history.ts';

/** A correct history: a number of articles that one client has written, published and changed. */
export const rightHistory = (articles: number): History => {
  const log: LogEntry[] = [];
  const writes: Write[] = [];
  const reads: Read[] = [];
  const append = (stream: string, type: string, request: string): LogEntry => {
    const version = log.filter((entry) => entry.stream === stream).length + 1;
    const entry = {
      id: `event-${log.length + 1}`,
      type,
      stream,
      version,
      position: log.length + 1,
      request,
      isConsequence: false,
    };
    log.push(entry);
    return entry;
  };
  let nowMs = 0;
  const tick = (): number => (nowMs += 10);
  const write = (target: string, leaves: readonly string[], state?: 'gone'): void => {
    const request = `request-${writes.length + 1}`;
    const startMs = tick();
    const last = leaves.map((type) => append(target.replace('/articles/', 'article-'), type, request)).at(-1);
    const { position = 0, version = 0 } = last ?? {};
    const more = { leaves, target, state: state ?? version, isVisible: true, position };
    writes.push({
      request,
      client: 'ada',
      what: leaves[0] ?? '',
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
    });
  };
  for (let article = 1; article <= articles; article += 1) {
    const target = `/articles/${article}`;
    write(target, ['article.drafted', 'article.published']);
    write(target, ['article.edited']);
    write(target, ['article.deleted'], 'gone');
  }
  const ids = log.map(({ id }) => id);
  const received = log.map(({ id, position }) => ({
    id,
    cursor: `c-${position}`,
    body: `body of ${id}`,
    isAccepted: true,
  }));
  const messages = log.map(({ position, type }) => `c-${position} ${type}`);
  return {
    ...{ seed: 1, faults: [], writes, reads, log, ends: [{ ...END, code: 'SIGKILL', isExpected: true }] },
    feeds: [{ name: 'reader', expected: messages, received: messages, visits: 1 }],
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
