import type { Connection } from '#shared/database/pool.ts';
import type { Log } from '#shared/process/log.ts';

/** Under it tasks are carried out, and timers looked at. */
export const LEASE = 'process-manager-parked';

/** By which declaration, and by which owner of the lease, something is done. */
export type Fence = { readonly fingerprint: string; readonly epoch: number };

export class Overtaken extends Error {
  constructor() {
    super('another process, or a release whose domain declares other reactions, has taken over');
    this.name = 'Overtaken';
  }
}

/** Tells once that this process waits, however often it tries, and once that it goes on. */
export type Waiting = { begins(): void; ends(): void };

export const tellWaiting = (log: Pick<Log, 'info' | 'warn'>): Waiting => {
  let isWaiting = false;
  return {
    begins() {
      if (!isWaiting)
        log.warn('Reactions and timers go by the declaration of another release, and this process waits.');
      isWaiting = true;
    },
    ends() {
      if (isWaiting) log.info('Reactions and timers go by the declaration of this process again.');
      isWaiting = false;
    },
  };
};

const FENCE = (fingerprint: string, epoch: string): string =>
  `select from process_manager.reacting r, public.lease l where r.fingerprint = ${fingerprint} and l.name = '${LEASE}' and l.epoch = ${epoch}`;

/** SQL that is true as long as nobody has taken the lease. */
export const isOwned = (epoch: number): string =>
  `exists (select from public.lease where name = '${LEASE}' and epoch = ${epoch})`;

/** SQL that is true as long as nobody has taken over. */
export const isFenced = (fingerprint: string, epoch: string): string =>
  `exists (${FENCE(fingerprint, epoch)})`;

/** Throws if somebody has taken over. With a lock, nobody does before the transaction ends. */
export const demandFence = async (
  connection: Pick<Connection, 'query'>,
  { fingerprint, epoch }: Fence,
  lock = '',
): Promise<void> => {
  const { rowCount } = await connection.query(`${FENCE('$1', '$2')} ${lock}`, [fingerprint, epoch]);
  if (rowCount !== 1) throw new Overtaken();
};
