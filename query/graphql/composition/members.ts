import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';
import { type AskService, createAskService } from './ask-service.ts';
import { fetchSdl, type KnownSchemas } from './service-schema.ts';
import type { Service } from './services.ts';

/** A composed service, with its schema if known. */
export type Member = {
  readonly service: Service;
  readonly ask: AskService;
  /** Its schema as SDL, once known. */
  sdl: string | undefined;
  /** True if the service itself returned it at the last request. */
  isFresh: boolean;
};

type Options = {
  readonly known: KnownSchemas;
  readonly log: Log;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

const ATTEMPTS_AT_START = 3;
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 30_000;
const REFRESH_MS = 60_000;

/**
 * Fetches the schema of a service, with retries. If the service does not answer, uses its last known schema,
 * if any.
 */
export const openMember = async (
  service: Service,
  { known, log, clock, signal }: Options,
): Promise<Member> => {
  const ask = createAskService(service);
  const last = await known.find(service);
  for (let attempt = 1; ; attempt += 1)
    try {
      const sdl = await fetchSdl(ask, signal);
      await keep(service, sdl, { known, log });
      return { service, ask, sdl, isFresh: true };
    } catch (error) {
      // A known schema is enough to start with.
      if (last === undefined && attempt < ATTEMPTS_AT_START) await clock.sleep(RETRY_MS, signal);
      else {
        log.warn(
          { err: error, service: service.name, isKnown: last !== undefined },
          'The schema of a composed service could not be fetched.',
        );
        return { service, ask, sdl: last, isFresh: false };
      }
    }
};

/** A failure only matters at a later start during which the service is down. */
const keep = async (
  service: Service,
  sdl: string,
  { known, log }: Pick<Options, 'known' | 'log'>,
): Promise<void> => {
  await known.keep(service, sdl).catch((error: unknown) => {
    log.warn(
      { err: error, service: service.name },
      'The schema of a composed service could not be stored in DATA_DIR.',
    );
  });
};

/**
 * Refetches the schema at intervals, and calls `change` if it differs; `change` throws if the new one does
 * not fit.
 */
export const keepUp = async (
  member: Member,
  change: () => void,
  { known, log, clock, signal }: Options,
): Promise<void> => {
  const { service, ask } = member;
  let waitMs = member.isFresh ? REFRESH_MS : RETRY_MS;
  while (!signal.aborted) {
    await clock.sleep(waitMs, signal, { ref: false });
    if (signal.aborted) return;
    const before = member.sdl;
    try {
      const sdl = await fetchSdl(ask, signal);
      if (!member.isFresh)
        log.info({ service: service.name }, 'The schema of a composed service was fetched again.');
      member.isFresh = true;
      waitMs = REFRESH_MS;
      if (sdl === before) continue;
      member.sdl = sdl;
      change();
      await keep(service, sdl, { known, log });
    } catch (error) {
      if (signal.aborted) return;
      if (member.isFresh)
        log.error(
          { err: error, service: service.name },
          'The new schema of a composed service was rejected; the old one stays.',
        );
      member.sdl = before;
      waitMs = member.isFresh ? REFRESH_MS : Math.min(waitMs * 2, RETRY_MAX_MS);
    }
  }
};
