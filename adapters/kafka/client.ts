import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Kafka, type KafkaConfig, type LogEntry, logLevel } from 'kafkajs';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Log } from '#shared/log.ts';
import type { KafkaAddress } from './kafka-url.ts';

/** The timeout of one response of a broker. */
export const ANSWER_WITHIN_MS = 10_000;
const CONNECT_WITHIN_MS = 5_000;

/**
 * KafkaJS itself retries little: after its retries it may give up, or hang. Its users open new
 * connections instead, for as long as it takes.
 */
export const createKafka = async (address: KafkaAddress, log: Log): Promise<Kafka> => {
  stillQueue();
  const { brokers, sasl } = address;
  const config: KafkaConfig = {
    clientId: 'annals',
    brokers: [...brokers],
    ssl: await readTls(address),
    connectionTimeout: CONNECT_WITHIN_MS,
    authenticationTimeout: ANSWER_WITHIN_MS,
    requestTimeout: ANSWER_WITHIN_MS,
    enforceRequestTimeout: true,
    retry: { initialRetryTime: 200, maxRetryTime: 1_000, factor: 0.2, multiplier: 2, retries: 2 },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => logEntry(log, entry),
  };
  // Its type has one shape for each mechanism.
  return new Kafka(sasl ? { ...config, sasl: sasl as NonNullable<KafkaConfig['sasl']> } : config);
};

const readTls = async ({ tls }: KafkaAddress): Promise<NonNullable<KafkaConfig['ssl']>> => {
  if (tls === undefined) return false;
  const read = async (file: string | undefined): Promise<Buffer | undefined> => {
    if (file === undefined) return undefined;
    return await readFile(file).catch((cause: unknown) => {
      throw new StartRefused(`The file ${file} that CHANGE_STREAM_URL names cannot be read.`, { cause });
    });
  };
  const [ca, cert, key] = [await read(tls.ca), await read(tls.cert), await read(tls.key)];
  return { ...(ca && { ca: [ca] }), ...(cert && { cert }), ...(key && { key }) };
};

/** Most of its errors are attempts that it retries; its users log the failures that matter. */
const logEntry = (log: Log, { namespace, log: { message, error } }: LogEntry): void => {
  log.debug({ kafka: namespace, error }, message);
};

/** The part of KafkaJS that sends the requests of a connection. */
type RequestQueue = {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  scheduleCheckPendingRequests(): void;
};

/**
 * KafkaJS checks once a millisecond, on every connection and for ever, whether a request waits. That takes 4
 * % of a core from an idle process, and makes Node 24 print a warning (its issue 1751, unfixed in its last
 * release). If nothing waits and the broker does not throttle us, the check is useless: each response
 * triggers it anyway.
 */
export const stillQueue = (): void => {
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js') as {
    prototype: RequestQueue;
  };
  const { scheduleCheckPendingRequests: schedule } = prototype;
  if (schedule === scheduleWhereNeeded) return;
  original = schedule;
  prototype.scheduleCheckPendingRequests = scheduleWhereNeeded;
};

let original: RequestQueue['scheduleCheckPendingRequests'] = () => {};

function scheduleWhereNeeded(this: RequestQueue): void {
  if (this.pending.length > 0 || this.throttledUntil > Date.now()) original.call(this);
}
