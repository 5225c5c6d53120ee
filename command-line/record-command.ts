import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { recordWhole } from '#shared/read-log/record-whole.ts';

type Reading = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly command: string;
  /** The fields and lists that it shows of each aggregate; without this everything. */
  readonly shown?: (kind: Kind) => readonly string[];
};

/** Records a command of operators that shows or copies items, before it does. */
export const recordCommand = ({ command, shown, ...recording }: Reading): Promise<void> =>
  recordWhole(
    { ...recording, at: new Date().toISOString() },
    {
      ...{ actor: 'system:command-line', reader: null, client: null },
      via: 'command line',
      ...{ operation: command, query: { account: userInfo().username }, request: randomUUID() },
    },
    shown,
  );
