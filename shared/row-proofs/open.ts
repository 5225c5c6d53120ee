import type { MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/log.ts';
import { createRowProofs, type RowProofs } from './row-proofs.ts';
import { openUpgrade } from './upgrade.ts';

type Opening = Omit<Parameters<typeof openUpgrade>[0], 'log'> & {
  readonly masterKey: MasterKey;
  readonly log: Pick<Log, 'warn' | 'error'>;
};

export const openRowProofs = ({ masterKey, log, ...opening }: Opening): RowProofs =>
  createRowProofs({ masterKey, log, upgrade: openUpgrade({ ...opening, log }) });
