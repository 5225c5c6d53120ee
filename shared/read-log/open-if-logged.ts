import { logsReads } from '#kernel/registry/logs-reads.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { ReadLog, ReadLogOptions } from './read-log.ts';

/** The log of reads, whose code is loaded only if the domain logs some; undefined if it logs none. */
export const openIfLogged = async (
  options: ReadLogOptions & { readonly domain: Domain },
): Promise<ReadLog | undefined> =>
  logsReads(options.domain) ? (await import('./read-log.ts')).openReadLog(options) : undefined;
