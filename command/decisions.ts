import { confirmedIn, readingIn, severalIn } from '#kernel/assembly/demand-reads.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type Clock, dateElsewhereMs } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import { createReleasedCodec } from '#shared/events/released-codec.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/log.ts';
import { createSnapshots, migrateSnapshots, unsavedTo } from '#shared/snapshots/snapshots.ts';
import { whenAsked } from '#shared/when-asked.ts';
import type { AdministratorKeeper, createAdministratorKeeper } from './administrators/keep-administrator.ts';
import type { createLimits, Limits } from './aggregates/limits.ts';
import type { ReportUnreadable } from './claims/claims.ts';
import { createExecutor } from './execute.ts';
import { createIdMaker } from './new-id.ts';
import { createStates } from './states.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly keys: KeyStore;
  readonly masterKey: MasterKey;
  readonly log: Pick<Log, 'warn' | 'error'>;
  readonly cell?: number | undefined;
  readonly clock: Clock;
};

/** Everything that decides and appends commands, without those who send them. */
export const openDecisions = async (dependencies: Dependencies) => {
  const { domain, pool, eventLog, masterKey, log, clock, cell } = dependencies;
  demandFencing(domain, eventLog);
  const codec = createReleasedCodec(createCodec(dependencies), pool);
  await migrateSnapshots(pool);
  const states = createStates({
    log: eventLog,
    codec,
    snapshots: createSnapshots({ ...dependencies, reportUnsaved: unsavedTo(log) }),
  });
  const base = { domain, log: eventLog, codec, states, clock };
  // Of the real date, so that the ids of all processes increase together.
  const newId = createIdMaker(() => dateElsewhereMs(clock), cell);
  const reportUnreadable: ReportUnreadable = (err, stream) =>
    log.error({ err, stream }, 'Events of an aggregate cannot be read, so it keeps its place in a limit.');
  return {
    base,
    newId,
    executor: createExecutor(base),
    limits: enforcingLimits({ ...base, masterKey, reportUnreadable }),
    administrators: keepingAdministrators({ ...base, pool }),
  };
};

/** Its code is loaded with the first change of an aggregate that has limits. */
const enforcingLimits = (dependencies: Parameters<typeof createLimits>[0]): Limits => {
  const limits = whenAsked(async () => (await import('./aggregates/limits.ts')).createLimits(dependencies));
  return {
    announce: (kind, id, metadata) =>
      kind.limits.length === 0
        ? undefined
        : async (...given) => (await limits()).announce(kind, id, metadata)?.(...given),
  };
};

/** Its code is loaded with the first change of an administrator. */
const keepingAdministrators = (
  dependencies: Parameters<typeof createAdministratorKeeper>[0],
): AdministratorKeeper => {
  const keeper = whenAsked(async () => {
    const { createAdministratorKeeper } = await import('./administrators/keep-administrator.ts');
    return createAdministratorKeeper(dependencies);
  });
  return {
    appoint: async (...given) => (await keeper()).appoint(...given),
    leave: async (...given) => (await keeper()).leave(...given),
  };
};

/** Commands that read or change other aggregates need an event log that can verify these reads on append. */
const demandFencing = (domain: Domain, { fencesReads }: EventLog): void => {
  const several = fencesReads ? undefined : severalIn(domain);
  if (several !== undefined)
    throw new StartRefused(
      `${several}, but EventStoreDB appends to one stream at a time: keep the event log in PostgreSQL, or send the other aggregate a command in \`react\`.`,
    );
  const confirmed = fencesReads ? undefined : confirmedIn(domain);
  if (confirmed !== undefined)
    throw new StartRefused(
      `${confirmed}, whose approval EventStoreDB cannot append together with its events: keep the event log in PostgreSQL, or remove \`confirm\`.`,
    );
  const reading = fencesReads ? undefined : readingIn(domain);
  if (reading !== undefined)
    throw new StartRefused(
      `${reading}, which EventStoreDB cannot lock until the events are appended: keep the event log in PostgreSQL, or remove \`reads\`.`,
    );
};
