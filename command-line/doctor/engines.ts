import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseKafkaUrl } from '#adapters/kafka/kafka-url.ts';
import { demandRedis } from '#adapters/redis/demand-redis.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { openBlobs } from '#process/engines/open-blobs.ts';
import { isOnSharedServer, openConfiguredEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool } from '#shared/database/pool.ts';
import { LogNotBegun } from '#shared/event-log/errors.ts';
import { type LogOwner, readLogOwner } from '#shared/event-log/owner/owner.ts';
import { reach } from './database.ts';
import { type Diagnosis, type Examined, fail, isThere, ok, refusal } from './diagnosis.ts';

const TIMEOUT_MS = 5_000;

/** Checks the engines that the settings name beside the database. */
export const engines = async (examined: Examined): Promise<readonly Diagnosis[]> => {
  const { config } = examined;
  const checks = [
    ...(config.eventLogUrl === undefined ? [] : [eventLog(config.eventLogUrl, examined)]),
    ...(parseKafkaUrl(config.changeStreamUrl)?.brokers ?? []).map((broker) =>
      knock('the Kafka of CHANGE_STREAM_URL', broker, 'Changes are read from the log meanwhile.'),
    ),
    ...redis('JOB_QUEUE_URL', config.jobQueueUrl),
    ...redis('RATE_LIMIT_URL', config.rateLimits.url),
    ...(config.mail === undefined
      ? []
      : [
          knock(
            'the mail server of MAIL_URL',
            hostAndPortOf(config.mail.url, { 'smtps:': 465 }, 587),
            'No mail is sent meanwhile.',
          ),
        ]),
    ...(config.tracing.endpoint === undefined
      ? []
      : [
          knock(
            'the collector of OTEL_EXPORTER_OTLP_ENDPOINT',
            hostAndPortOf(config.tracing.endpoint, { 'https:': 443 }, 80),
            'Spans are lost meanwhile.',
          ),
        ]),
    uploads(config.blobUrl),
  ];
  return Promise.all(checks);
};

const eventLog = async (eventLogUrl: string, examined: Examined): Promise<Diagnosis> => {
  const { eventLogPrefix } = examined.config;
  const asked = isOnSharedServer(eventLogUrl) ? await ownerOf(examined) : undefined;
  try {
    await using log = await openConfiguredEventLog({
      ...{ eventLogUrl, eventLogPrefix, databaseUrl: eventLogUrl, clock: REAL_TIME },
      owner: asked && { ...asked.owner, looksOnly: true },
    });
    await log.head();
    if (log.ofAnother && asked?.isKnown)
      return fail(
        `The event log at EVENT_LOG_URL with EVENT_LOG_PREFIX ${eventLogPrefix} belongs to another installation.`,
        'set another EVENT_LOG_PREFIX, or see npm run annals -- erasure lost-keys.',
      );
    return ok('The event log of EVENT_LOG_URL answers.');
  } catch (error) {
    if (error instanceof LogNotBegun)
      return ok('The event log of EVENT_LOG_URL answers; the first start begins it.');
    if (error instanceof StartRefused) return refusal(error.message);
    return fail(
      `The event log of EVENT_LOG_URL cannot be read (${(error as Error).message}).`,
      'start it, or set EVENT_LOG_URL to one that is running.',
    );
  }
};

type Asked = { readonly owner: LogOwner; readonly isKnown: boolean };

/** Unknown if the database does not answer, which is a finding of its own. */
const ownerOf = async (examined: Examined): Promise<Asked> => {
  await using resources = new AsyncDisposableStack();
  const reached = await reach(examined, resources);
  if ('outcome' in reached)
    return { owner: { id: undefined, follows: undefined }, isKnown: reached.outcome === 'ok' };
  const pool = resources.use(
    openPool({ url: reached.url, applicationName: 'annals-command-line', connectionsMax: 1 }),
  );
  return { owner: await readLogOwner(pool), isKnown: true };
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
    return knock(
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

const knock = async (what: string, address: string, meanwhile: string): Promise<Diagnosis> => {
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
