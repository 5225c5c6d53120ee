import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDataDir } from '../data-dir.ts';
import { openJournal } from './journal.ts';
import type { ServerVersion } from './product.ts';
import type { LogRecord } from './records.ts';
import { type EventStoreStandIn, startEventStoreStandIn } from './server.ts';

/** A server whose log is on the disk. */
export type KeptStandIn = AsyncDisposable & {
  readonly address: string;
  scavenge(): void;
  /** Where the last filtered page of `$all` began, since it was started. */
  searched(): number;
  /** Kills it, and starts another one with everything acknowledged. */
  restart(): Promise<void>;
  /** All that was ever written, as it is on the disk. */
  records(): Promise<readonly LogRecord[]>;
  /** Copies its log. */
  backUp(): Promise<void>;
  /** Puts the copy back. Before its clients find it again, `meanwhile` uses it at another address. */
  restore(meanwhile: (elsewhere: EventStoreStandIn) => Promise<void>): Promise<void>;
};

export const startKeptStandIn = async (version: ServerVersion): Promise<KeptStandIn> => {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryDataDir());
  const fileNamed = (name: string): string => join(folder.path, name);
  const [journal, backup, read] = [fileNamed('journal'), fileNamed('backup'), fileNamed('read')];
  let node = await startEventStoreStandIn({ version, journal });
  const { address, port } = node;
  opening.defer(() => node[Symbol.asyncDispose]());
  const start = async (): Promise<void> => {
    node = await startEventStoreStandIn({ version, journal, port });
  };
  const resources = opening.move();
  return {
    address,
    scavenge: () => node.scavenge(),
    searched: () => node.searched(),
    async restart() {
      await node[Symbol.asyncDispose]();
      await start();
    },
    async records() {
      await copyFile(journal, read);
      const { journal: copy, changes } = await openJournal(read);
      await copy.close();
      return changes.flat();
    },
    backUp: () => copyFile(journal, backup),
    async restore(meanwhile) {
      await node[Symbol.asyncDispose]();
      await copyFile(backup, journal);
      {
        await using elsewhere = await startEventStoreStandIn({ version, journal });
        await meanwhile(elsewhere);
      }
      await start();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
