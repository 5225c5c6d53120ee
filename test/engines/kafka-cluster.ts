import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from './data-dir.ts';
import { format, type Server, startOn, withAdmin } from './kafka.ts';
import { fetchKafka, type Ports, settingsOf } from './kafka-server.ts';

/** Brokers of the caller's own, each also a controller. Numbers begin with 1. */
export type KafkaCluster = AsyncDisposable & {
  /** The CHANGE_STREAM_URL with all brokers. */
  url(topic: string): string;
  /** Ends a broker at once, without notice. */
  kill(node: number): Promise<void>;
  /**
   * Starts a broker with an empty disk in the place of a killed one, and waits until it has replicas of all
   * topics again.
   */
  replace(node: number, address: 'same address' | 'other address'): Promise<void>;
};

const untilReplicated = (broker: string, copies: number): Promise<unknown> =>
  until(
    () => withAdmin(broker, (admin) => admin.fetchTopicMetadata()).catch(() => ({ topics: [] })),
    ({ topics }) =>
      topics.length > 0 &&
      topics.every(({ partitions }) => partitions.every(({ isr }) => isr.length === copies)),
    REPLICATION_MS,
  );

const REPLICATION_MS = 60_000;

type Node = { readonly folder: string; readonly ports: Ports; readonly server: Server };

export const startKafkaCluster = async (size: number): Promise<KafkaCluster> => {
  await using opening = new AsyncDisposableStack();
  const jars = await fetchKafka();
  const { path } = opening.use(await temporaryDataDir());
  const controllers: number[] = [];
  while (controllers.length < size) controllers.push(await freePort());
  const nodes = new Map<number, Node>();
  opening.defer(async () => void (await Promise.all([...nodes.values()].map(({ server }) => server.kill()))));

  const portsOf = async (controller: number): Promise<Ports> => {
    const [plain, secure, detour] = [await freePort(), await freePort(), await freePort()];
    return { plain, secure, detour, controller };
  };
  const start = async (node: number, ports: Ports): Promise<void> => {
    const folder = join(path, String(node));
    await mkdir(folder);
    await writeFile(join(folder, 'kafka.properties'), settingsOf(ports, folder, { node, controllers }));
    await format(jars, folder);
    nodes.set(node, { folder, ports, server: await startOn(ports, jars, folder, size) });
  };
  const nodeOf = (node: number): Node => {
    const found = nodes.get(node);
    if (!found) throw new Error(`there is no broker ${node}`);
    return found;
  };

  await Promise.all(
    controllers.map(async (controller, index) => start(index + 1, await portsOf(controller))),
  );
  const brokers = [...nodes.values()].map(({ ports }) => `127.0.0.1:${ports.plain}`).join(',');
  const resources = opening.move();
  return {
    url: (topic) => `kafka://${brokers}/${topic}?replicas=${size}`,
    kill: (node) => nodeOf(node).server.kill(),
    async replace(node, address) {
      const { folder, ports } = nodeOf(node);
      await rm(folder, { recursive: true });
      await start(node, address === 'same address' ? ports : await portsOf(ports.controller));
      await untilReplicated(`127.0.0.1:${nodeOf(node).ports.plain}`, size);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
