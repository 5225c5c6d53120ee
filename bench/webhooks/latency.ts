import { setTimeout as delay } from 'node:timers/promises';
import { printTable, quantilesOf } from '../table.ts';
import type { Installation } from './installation.ts';
import { startReceiver } from './receiver.ts';

/** When a write was due, and when the answer came. */
type Write = { readonly commentId: number; readonly dueMs: number; readonly acknowledgedMs: number };

/**
 * At a steady rate, independent of earlier answers: each write has a due time, and its latency counts from
 * then.
 */
export const write = async (
  installation: Installation,
  articleId: number,
  { rate, seconds }: { rate: number; seconds: number },
) => {
  const startMs = performance.now();
  const underWay: Promise<Write>[] = [];
  for (let number = 0; number < rate * seconds; number += 1) {
    const dueMs = startMs + (number * 1_000) / rate;
    while (performance.now() < dueMs) await delay(Math.max(1, dueMs - performance.now()));
    underWay.push(
      installation
        .comment(articleId)
        .then((commentId) => ({ commentId, dueMs, acknowledgedMs: performance.now() })),
    );
  }
  return Promise.all(underWay);
};

type Latency = {
  readonly installation: Installation;
  readonly title: string;
  readonly rate: number;
  readonly seconds: number;
};

export const measureLatency = async ({ installation, title, rate, seconds }: Latency): Promise<void> => {
  await using receiver = await startReceiver();
  const articleId = await installation.publish();
  await installation.register(articleId, [`${receiver.url}/0`]);
  await write(installation, articleId, { rate, seconds: WARM_UP_S });
  const writes = await write(installation, articleId, { rate, seconds });
  await receiver.untilAll(
    writes.map(({ commentId }) => commentId),
    1,
  );
  const row = (name: string, values: readonly number[]): readonly string[] => {
    const quantile = quantilesOf(values);
    return [
      name,
      ...[0.5, 0.99, 1].map((share) => quantile(share).toFixed(1)),
      values.length.toLocaleString('en'),
    ];
  };
  printTable(
    [`${rate} writes/s, one endpoint, ${title}`, 'p50 ms', 'p99 ms', 'most ms', 'count'],
    [
      row(
        'due → acknowledged',
        writes.map(({ dueMs, acknowledgedMs }) => acknowledgedMs - dueMs),
      ),
      // A delivery before the writer's answer counts as zero.
      row(
        'acknowledged → received',
        writes.flatMap(({ commentId, acknowledgedMs }) =>
          receiver.arrivals(commentId).map((atMs) => Math.max(0, atMs - acknowledgedMs)),
        ),
      ),
    ],
  );
};

const WARM_UP_S = 5;
