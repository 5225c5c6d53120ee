import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseKafkaUrl } from '#adapters/kafka/kafka-url.ts';
import { demandRedis } from '#adapters/redis/demand-redis.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { openBlobs } from '#process/engines/open-blobs.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openConfiguredEventLog } from '#shared/event-log/open.ts';
import { type Diagnosis, type Examined, fail, isThere, ok, refusal } from './diagnosis.ts';

const TIMEOUT_MS = 5_000;

/** Checks the engines that the settings name beside the database. */
export const engines = async ({ config }: Examined): Promise<readonly Diagnosis[]> => {
  const checks = [
    ...(config.eventLogUrl === undefined ? [] : [eventLog(config.eventLogUrl, config.eventLogPrefix)]),
    ...(parseKafkaUrl(config.changeStreamUrl)?.brokers ?? []).map((broker) =>
      reach('the Kafka of CHANGE_STREAM_URL', broker, 'Changes are read from the log meanwhile.'),
    ),
    ...redis('JOB_QUEUE_URL', config.jobQueueUrl),
    ...redis('RATE_LIMIT_URL', config.rateLimits.url),
    ...(config.mail === undefined
      ? []
      : [
          reach(
            'the mail server of MAIL_URL',
            hostAndPortOf(config.mail.url, { 'smtps:': 465 }, 587),
            'No mail is sent meanwhile.',
          ),
        ]),
    ...(config.tracing.endpoint === undefined
      ? []
      : [
          reach(
            'the collector of OTEL_EXPORTER_OTLP_ENDPOINT',
            hostAndPortOf(config.tracing.endpoint, { 'https:': 443 }, 80),
            'Spans are lost meanwhile.',
          ),
        ]),
    uploads(config.blobUrl),
  ];
  return Promise.all(checks);
};

const eventLog = async (url: string, eventLogPrefix: string): Promise<Diagnosis> => {
  try {
    await using log = await openConfiguredEventLog({
      ...{ eventLogUrl: url, eventLogPrefix, databaseUrl: url, clock: REAL_TIME },
    });
    await log.head();
    return ok('The event log of EVENT_LOG_URL answers.');
  } catch (error) {
    if (error instanceof StartRefused) return refusal(error.message);
    return fail(
      `The event log of EVENT_LOG_URL cannot be read (${(error as Error).message}).`,
      'start it, or set EVENT_LOG_URL to one that is running.',
    );
  }
};

const REDIS_PORT = 6379;

const redis = (setting: 'JOB_QUEUE_URL' | 'RATE_LIMIT_URL', url: string): readonly Promise<Diagnosis>[] => {
  if (!/^rediss?:/.test(url)) return [];
  const check = async (): Promise<Diagnosis> => {
    const refused = await demandRedis(url, setting).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (refused instanceof StartRefused) return refusal(refused.message);
    return reach(
      `the Redis of ${setting}`,
      hostAndPortOf(url, {}, REDIS_PORT),
      setting === 'RATE_LIMIT_URL' ? 'Each process counts alone meanwhile.' : 'No webhook is sent meanwhile.',
    );
  };
  return [check()];
};

const uploads = async (url: string): Promise<Diagnosis> => {
  // The check makes no folder: that would hide a mistyped one.
  if (url.startsWith('file:') && !(await isThere(fileURLToPath(url))))
    return ok(`Uploads will be stored in ${fileURLToPath(url)}.`);
  try {
    await using _blobs = await openBlobs({ url, health: { add: () => {} } });
    return ok('Uploads can be stored.');
  } catch (error) {
    if (error instanceof StartRefused) return refusal(error.message);
    throw error;
  }
};

/** Host and port, without the user and the password that an address may contain. */
const hostAndPortOf = (url: string, ports: Readonly<Record<string, number>>, otherwise: number): string => {
  const { protocol, hostname, port } = new URL(url);
  return `${hostname}:${port || (ports[protocol] ?? otherwise)}`;
};

const reach = async (what: string, address: string, meanwhile: string): Promise<Diagnosis> => {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(address) ?? [];
  const socket = connect(Number(port), host.replace(/^\[|\]$/g, ''));
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return ok(`${what[0]?.toUpperCase()}${what.slice(1)} answers at ${address}.`);
  } catch (error) {
    const reason =
      error instanceof Error && 'code' in error && error.name !== 'AbortError'
        ? String(error.code)
        : 'no answer in time';
    return fail(
      `Nothing answers at ${address}, ${what} (${reason}). ${meanwhile}`,
      'start it, or correct the setting.',
    );
  } finally {
    socket.on('error', () => {}).destroy();
  }
};
