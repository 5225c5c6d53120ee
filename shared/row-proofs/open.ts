import type { MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/process/log.ts';
import { createRowProofs, type RowProofs } from './row-proofs.ts';
import { openUpgrade } from './upgrade-note.ts';

type Opening = Omit<Parameters<typeof openUpgrade>[0], 'log'> & {
  readonly masterKey: MasterKey;
  readonly log: Pick<Log, 'warn' | 'error'>;
};

/** Must be opened before the tables get their columns for proofs: that tells an upgrade. */
export const openRowProofs = async ({ masterKey, log, ...opening }: Opening): Promise<RowProofs> =>
  createRowProofs({ masterKey, log, isUpgrading: await openUpgrade({ ...opening, log }) });
