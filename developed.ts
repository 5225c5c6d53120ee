import { join, relative } from 'node:path';
import type { Domain } from '#kernel/registry/registry.ts';
import { orExit, type ServedParts } from '#process/run-role.ts';
import type { Pool } from '#shared/database/pool.ts';
import { develop } from './develop/develop.ts';
import { runDeveloped } from './develop/developed.ts';
import { isDeveloped } from './develop/protocol.ts';

/** `npm run dev`, and the processes that it starts. */
export const startDeveloping = async (served: ServedParts, args: readonly string[]): Promise<void> => {
  if (!isDeveloped(process.env)) {
    await orExit(() => develop(process.argv[1] ?? '', args));
    process.exit();
  }
  await orExit(() =>
    runDeveloped(served, {
      prepare: () =>
        Promise.all([
          import('./all-roles.ts'),
          import('./develop/rebuild.ts'),
          import('./develop/routes.ts'),
          import('#shared/read-model/tables.ts'),
        ]),
      async routes({ files, domain }, own) {
        const { developRoutes } = await import('./develop/routes.ts');
        return developRoutes({ files: files.map((path) => relative('.', path)), domain }, own);
      },
      async startAll(context, isFirst) {
        const { startAll } = await import('./all-roles.ts');
        opened = await startAll(context, { hasDemo: served.demo !== undefined, isQuiet: !isFirst });
      },
      async afterStart({ config, domain, signal }, note) {
        if (opened === undefined) return;
        const { foundation } = opened;
        const { rebuildIfOther } = await import('./develop/rebuild.ts');
        const rebuilt = await rebuildIfOther({ ...foundation, domain, signal });
        if (rebuilt !== undefined) note(rebuilt);
        for (const line of await brokenBy(domain, join(config.dataDir, CONTRACT), foundation.pool))
          note(line);
      },
    }),
  );
};

let opened: Awaited<ReturnType<typeof import('./all-roles.ts').startAll>> | undefined;

/** Of the declaration that was served last without breaking it. */
const CONTRACT = 'contract-of-dev';

/** A line for each break of events that the log has. Without one, the contract of the domain is the new one. */
const brokenBy = async (domain: Domain, folder: string, pool: Pool): Promise<readonly string[]> => {
  // A contract has the answers of every operation.
  await import('#shared/needed/all.ts');
  const [{ compareContracts }, { contractOf }, { readRecorded, writeRecorded }] = await Promise.all([
    import('./command-line/domain/contract/compare.ts'),
    import('./command-line/domain/contract/contract.ts'),
    import('./command-line/domain/contract/recorded.ts'),
  ]);
  const now = contractOf(domain);
  const before = readRecorded(folder)?.contract;
  const { rows } = await pool.query<{ type: string }>('select distinct type from event_index.event');
  const recorded = new Set(rows.map(({ type }) => type));
  const broken =
    before === undefined || before.rights.domain !== domain.name
      ? []
      : compareContracts(before, now).filter(({ what, weight }) => {
          const [of, type = ''] = what.split(' ');
          return weight === 'breaks' && of === 'event' && recorded.has(type);
        });
  if (broken.length === 0) await writeRecorded(folder, now, []);
  return broken.map(
    ({ what, says, instead }) =>
      `This breaks events in the log (${what}). ${says}${instead === undefined ? '' : ` Instead: ${instead}`}`,
  );
};
