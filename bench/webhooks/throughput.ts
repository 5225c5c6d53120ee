import { fork } from 'node:child_process';
import { once } from 'node:events';
import { ratios, report } from '../figures.ts';
import { stop } from '../processes.ts';
import { median, printTable } from '../table.ts';
import type { Installation } from './installation.ts';
import { startPeer } from './peer.ts';

type Throughput = {
  readonly installation: Installation;
  readonly title: string;
  /** Set if the queue is in Redis. */
  readonly redisUrl: string | undefined;
  readonly endpoints: number;
  readonly events: number;
  readonly rounds: number;
};

export const measureThroughput = async ({
  installation,
  title,
  redisUrl,
  endpoints,
  events,
  rounds,
}: Throughput): Promise<void> => {
  await using running = new AsyncDisposableStack();
  const sink = running.use(await startSink());
  const articleId = await installation.publish();
  await installation.register(
    articleId,
    Array.from({ length: endpoints }, (_, number) => `${sink.url}/${number}`),
  );
  const count = events * endpoints;
  const ours = async (): Promise<number> => {
    const arrived = sink.expect(count);
    await Promise.all(Array.from({ length: events }, () => installation.comment(articleId)));
    return arrived;
  };
  const loop = running.use(startPeer('./undici.ts', [sink.url]));
  const jobs = running.use(startPeer('./jobs.ts', [redisUrl ?? installation.databaseUrl, 'empty-jobs']));
  const contenders = [
    { title: 'ours', run: ours },
    { title: 'BullMQ, empty jobs', run: () => jobs.run(count) },
    { title: 'undici, bare loop', run: () => loop.run(count) },
  ];
  const rates = new Map<string, number[]>(contenders.map((contender) => [contender.title, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const contender of contenders) {
      const rate = await contender.run();
      // The first round is the warm-up.
      if (round >= 0) rates.get(contender.title)?.push(rate);
      process.stderr.write('.');
    }
  }
  process.stderr.write('\n');
  const [own = []] = rates.values();
  printTable(
    [
      `${count.toLocaleString('en')} deliveries, ${endpoints} endpoints, ${title}`,
      'per second',
      'ours is … times',
    ],
    [...rates].map(([name, measured]) => [
      name,
      Math.round(median(measured)).toLocaleString('en'),
      measured === own ? '' : report(`deliveries by ${title}, beside ${name}: rate`, ratios(own, measured)),
    ]),
  );
};

const ARRIVED_MS = 300_000;

const startSink = async () => {
  const child = fork(new URL('./sink.ts', import.meta.url), { execArgv: [] });
  const [{ url }] = (await once(child, 'message')) as [{ readonly url: string }];
  return {
    url,
    /** Returns the rate per second. */
    async expect(count: number): Promise<number> {
      child.send(count);
      const [rate] = await once(child, 'message', { signal: AbortSignal.timeout(ARRIVED_MS) });
      return Number(rate);
    },
    [Symbol.asyncDispose]: () => stop(child),
  };
};
