import { createPostgresBackend, Queue, Worker, withBackend } from 'bullmq';
import { Redis } from 'ioredis';

// BullMQ running empty jobs, which were added before the measurement.
const [url = '', name = ''] = process.argv.slice(2);
const CONCURRENCY = 100;
const CONNECTIONS = 10;
const ADDED_AT_ONCE = 500;
/** Finished jobs are not kept, like ours. */
const forgotten = { removeOnComplete: true, removeOnFail: true };

type Finish = (job: object) => Promise<void>;

const onRedis = () => {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  return {
    queue: new Queue(name, { connection }),
    startWorker: (finish: Finish) => new Worker(name, finish, { connection, concurrency: CONCURRENCY }),
  };
};

const onPostgres = () => {
  const Postgres = withBackend(createPostgresBackend);
  const connection = { connectionString: url, schema: 'bench_jobs', migrate: true, max: CONNECTIONS };
  return {
    queue: new Postgres.Queue(name, { connection }),
    startWorker: (finish: Finish) =>
      new Postgres.Worker(name, finish, { connection, concurrency: CONCURRENCY }),
  };
};

const { queue, startWorker } = url.startsWith('redis') ? onRedis() : onPostgres();
await queue.waitUntilReady();

process.on('message', async (count: number) => {
  const jobs = Array.from({ length: count }, (_, number) => ({
    name: 'empty',
    data: { number },
    opts: forgotten,
  }));
  while (jobs.length > 0) await queue.addBulk(jobs.splice(0, ADDED_AT_ONCE));
  const all = Promise.withResolvers<void>();
  let done = 0;
  const startedMs = performance.now();
  const worker = startWorker(async () => {
    done += 1;
    if (done === count) all.resolve();
  });
  await all.promise;
  const rate = (count / (performance.now() - startedMs)) * 1_000;
  await worker.close();
  process.send?.(rate);
});
