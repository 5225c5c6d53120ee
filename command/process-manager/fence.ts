import type { Connection } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';

/** The lease for executing tasks and polling timers. */
export const LEASE = 'process-manager-parked';

/** The declaration and the lease epoch under which work is done. */
export type Fence = { readonly fingerprint: string; readonly epoch: number };

export class Overtaken extends Error {
  constructor() {
    super('another process, or a release whose domain declares other reactions, has taken over');
    this.name = 'Overtaken';
  }
}

/** Logs once that this process waits, however often it retries, and once that it resumes. */
export type Waiting = { begins(): void; ends(): void };

export const logWaiting = (log: Pick<Log, 'info' | 'warn'>): Waiting => {
  let isWaiting = false;
  return {
    begins() {
      if (!isWaiting)
        log.warn('Reactions and timers follow the declaration of another release; this process waits.');
      isWaiting = true;
    },
    ends() {
      if (isWaiting) log.info('Reactions and timers follow the declaration of this process again.');
      isWaiting = false;
    },
  };
};

const FENCE = (fingerprint: string, epoch: string): string =>
  `select from process_manager.reacting r, public.lease l where r.fingerprint = ${fingerprint} and l.name = '${LEASE}' and l.epoch = ${epoch}`;

/** SQL that is true while nobody else has taken the lease. */
export const isOwned = (epoch: number): string =>
  `exists (select from public.lease where name = '${LEASE}' and epoch = ${epoch})`;

/** SQL that is true while no other declaration or leader has taken over. */
export const isFenced = (fingerprint: string, epoch: string): string =>
  `exists (${FENCE(fingerprint, epoch)})`;

/**
 * Throws if another declaration or leader has taken over. With a lock, none can before the transaction ends.
 */
export const demandFence = async (
  connection: Pick<Connection, 'query'>,
  { fingerprint, epoch }: Fence,
  lock = '',
): Promise<void> => {
  const { rowCount } = await connection.query(`${FENCE('$1', '$2')} ${lock}`, [fingerprint, epoch]);
  if (rowCount !== 1) throw new Overtaken();
};
