import { printTable, quantilesOf } from '../table.ts';
import type { Installation } from './installation.ts';
import { write } from './latency.ts';
import { HANGING, startReceiver } from './receiver.ts';

type Hanging = {
  readonly installation: Installation;
  readonly title: string;
  readonly endpoints: number;
  /** Each write goes to all endpoints. */
  readonly rate: number;
  readonly seconds: number;
};

/** Two articles with the same number of endpoints; one endpoint of the second never answers. */
export const measureHanging = async ({
  installation,
  title,
  endpoints,
  rate,
  seconds,
}: Hanging): Promise<void> => {
  await using receiver = await startReceiver();
  const others = Array.from({ length: endpoints - 1 }, (_, number) => `${receiver.url}/${number}`);
  const [all, one] = [await installation.publish(), await installation.publish()];
  await installation.register(all, [...others, `${receiver.url}/last`]);
  await installation.register(one, [...others, `${receiver.url}${HANGING}`]);
  await write(installation, all, { rate, seconds: WARM_UP_S });
  const measure = async (name: string, articleId: number, expected: number): Promise<readonly string[]> => {
    const writes = await write(installation, articleId, { rate, seconds });
    await receiver.untilAll(
      writes.map(({ commentId }) => commentId),
      expected,
    );
    const late = writes.flatMap(({ commentId, acknowledgedMs }) =>
      receiver.arrivals(commentId).map((atMs) => Math.max(0, atMs - acknowledgedMs)),
    );
    const quantile = quantilesOf(late);
    return [
      name,
      ...[0.5, 0.99, 1].map((share) => quantile(share).toFixed(1)),
      late.length.toLocaleString('en'),
    ];
  };
  const rows = [
    await measure('all answer', all, endpoints),
    await measure('one hangs: the others', one, endpoints - 1),
    await measure('all answer, while it still hangs', all, endpoints),
  ];
  printTable(
    [`${rate} writes/s to ${endpoints} endpoints each, ${title}`, 'p50 ms', 'p99 ms', 'most ms', 'count'],
    rows,
  );
};

const WARM_UP_S = 5;
