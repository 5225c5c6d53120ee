import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import type { UserId } from '#kernel/base/brands.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { openAuthenticEvents } from '#shared/authentic-events/authentic-events.ts';
import { openPostgresChangeStream } from '#shared/change-stream/postgres/postgres-change-stream.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { Command } from '#shared/commands/command.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { EVENT_INDEX } from '#shared/event-index/event-index.ts';
import { createCodec } from '#shared/events/codec.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { createCheckPerson } from '#shared/persons/check-person.ts';
import { DIRECTORY } from '#shared/persons/directory.ts';
import { createReadPerson } from '#shared/persons/read-person.ts';
import { policyOf } from '#shared/policy.ts';
import { createReadModel } from '#shared/projection/schema.ts';
import { openReadModelNotifier } from '#shared/read-model/read-model.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { createRowProofs } from '#shared/row-proofs/row-proofs.ts';
import { createSnapshots } from '#shared/snapshots/snapshots.ts';
import { PLANNER } from '#shared/webhooks/planner.ts';
import { openDirectory } from '../../auth/directory.ts';
import { deactivatePerson } from '../../auth/persons/person-table.ts';
import { untilSettled } from '../../command/process-manager/settled.ts';
import { startEventIndex } from '../../projector/role.ts';
import { startProjector } from '../../projector/service.ts';
import { startAudit } from '../../proof/service.ts';
import { readChainEnd } from '../../proof/stored/blocks.ts';
import { until } from '../../testing/until.ts';
import { addFilterColumns } from '../../webhook-dispatcher/ledger/endpoints.ts';
import { migrateLedger } from '../../webhook-dispatcher/ledger/migrate.ts';
import { startPlanner } from '../../webhook-dispatcher/plan.ts';
import { claimsDesk } from '../toy/claims-desk.ts';
import { WEBHOOK_FORM } from '../webhook-form.ts';
import {
  by,
  type CommandDatabase,
  type CommandSide,
  createCommandDatabase,
  registerUser,
  system,
} from './command-side.ts';
import { temporaryDataDir } from './data-dir.ts';
import { createDatabase } from './database.ts';
import { createMigratedDatabase } from './migrated-database.ts';
import { callerIn } from './policy.ts';

const log = pino({ level: 'silent' });

/** The parts of an installation that a verification needs; no process runs. */
export type StoppedInstallation = Awaited<ReturnType<typeof openStopped>>;

type Edited = { readonly pool: Pool; readonly auditDir: string };

/** An installation with rows in every table, which has stopped after everything was done, chained and signed. */
export type ClaimsDesk = AsyncDisposable & {
  /** A copy of its database and of its `AUDIT_DIR`, opened after both were edited. */
  copy(edit?: (copy: Edited) => Promise<void>): Promise<AsyncDisposable & StoppedInstallation>;
};

export const createClaimsDesk = async (): Promise<ClaimsDesk> => {
  await using opening = new AsyncDisposableStack();
  let name = '';
  const database = opening.use(
    await createCommandDatabase({
      createDatabase: async () => {
        const created = await createMigratedDatabase();
        name = created.name;
        return created;
      },
    }),
  );
  const { masterKey, folder } = await fill(database);
  const resources = opening.move();
  return {
    async copy(edit = async () => {}) {
      await using copying = new AsyncDisposableStack();
      const copy = copying.use(await createDatabase({ template: name }));
      const dataDir = copying.use(await temporaryDataDir());
      const auditDir = join(dataDir.path, 'audit');
      await cp(folder, auditDir, { recursive: true });
      {
        await using pool = openPool({ url: copy.url, applicationName: 'edit', connectionsMax: 1 });
        await edit({ pool, auditDir });
      }
      const opened = copying.use(await openStopped({ url: copy.url, auditDir, masterKey }));
      const copied = copying.move();
      return { ...opened, [Symbol.asyncDispose]: () => copied.disposeAsync() };
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

type Place = Pick<CommandSide, 'masterKey'> & { readonly url: string; readonly auditDir: string };

const openStopped = async ({ url, auditDir, masterKey }: Place) => {
  await using opening = new AsyncDisposableStack();
  const pool = opening.use(openPool({ url, applicationName: 'test', connectionsMax: 8 }));
  const authentic = opening.use(openAuthenticEvents({ pool, masterKey, auditDir, clock: REAL_TIME, log }));
  const eventLog = opening.use(await openEventLog({ url, clock: REAL_TIME, authentic }));
  const keys = opening.use(await openPostgresKeyStore({ pool, masterKey }));
  const resources = opening.move();
  return {
    ...{ domain: claimsDesk, clock: REAL_TIME, pool, url, eventLog, keys, masterKey, auditDir },
    tables: tablesOf(claimsDesk),
    codec: createCodec({ keys, domain: claimsDesk }),
    snapshots: createSnapshots({ pool, keys, masterKey, eventLog }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** Writes something of everything, and waits until all roles have done their work. */
const fill = async (database: CommandDatabase) => {
  await using opening = new AsyncDisposableStack();
  const side = opening.use(await database.open({ domain: claimsDesk }));
  const { pool, eventLog, masterKey } = side;
  await createReadModel(pool, side.tables, LIVE_SCHEMA);
  await migrateLedger(pool);
  await addFilterColumns(pool, claimsDesk);
  const own = () => ({ ...side, log, metrics: createMetrics() });
  const notifier = opening.use(openReadModelNotifier({ url: side.databaseUrl, clock: side.clock }));
  const changes = opening.use(await openPostgresChangeStream({ ...side, notifier }));
  opening.use(await startProjector({ ...own(), notifier }));
  opening.use(await startEventIndex(own()));
  opening.use(await startPlanner({ ...own(), changes, planned() {} }));
  const rowProofs = createRowProofs({ masterKey, log });
  const checkPerson = createCheckPerson({ ...own(), readPerson: createReadPerson(side) });
  opening.use(await openDirectory({ ...own(), rowProofs, checkPerson, revokeUser: async () => {} }));
  await writeEverything(side);
  const left = await untilSettled(side, {
    waitMaxMs: SETTLED_MAX_MS,
    followers: ['projector', EVENT_INDEX, PLANNER, DIRECTORY],
  });
  if (left.length > 0) throw new Error(`still pending: ${left.join(', ')}`);
  const folder = side.auditDir;
  const settings = { dir: folder, headEveryMs: 20, watchEventsPerSecond: 0 };
  const audit = await startAudit({ ...own(), settings });
  const head = await eventLog.head();
  const isChained = async () => (await readChainEnd(pool)).position;
  await until(isChained, (position) => position === head);
  await audit[Symbol.asyncDispose]();
  return { masterKey, folder };
};

/** The tree has a full tile. */
const EDITS = 256;
const SETTLED_MAX_MS = 60_000;

const writeEverything = async (side: CommandSide): Promise<void> => {
  const give = async (form: object): Promise<number> => (await side.send(form as Command, by(system))).id;
  const register = (name: string, role: string) =>
    registerUser(side, { name, email: `${name}@example.com`, role: role as never });
  const agent = await register('agent', 'agent');
  const customer = await register('customer', 'customer');
  const former = await register('former', 'customer');
  const policy = policyOf(claimsDesk);
  const hook = (userId: UserId, role: string, form: object) =>
    side.send(
      { type: 'RegisterWebhook', ...WEBHOOK_FORM, eventTypes: ['claim.*'], ...form },
      by(callerIn(policy, { userId, role })),
    );
  await hook(agent, 'agent', {});
  await hook(customer, 'customer', { eventTypes: ['claim.answered'], payload: 'full' });
  await hook(former, 'customer', {});
  const open = (teamName: string) => give({ type: 'OpenTeam', name: teamName, leadId: agent });
  const [first, second] = [await open('First'), await open('Second')];
  const make = (customerId: UserId, teamId: number | null, subject: string) =>
    give({ type: 'MakeClaim', customerId, teamId, subject, details: `About ${subject}.`, amount: 20 });
  const claims = [
    await make(customer, first, 'Rain'),
    await make(customer, first, 'Hail'),
    await make(customer, null, 'Wind'),
    await make(customer, second, 'Snow'),
    await make(former, first, 'Fire'),
  ] as const;
  const [rain, hail, wind] = claims;
  await give({ type: 'AnswerClaim', claimId: rain, text: 'Where?' });
  await give({ type: 'AnswerClaim', claimId: rain, text: 'Here.' });
  await give({ type: 'EditClaim', claimId: hail, amount: 30 });
  await give({ type: 'ReturnClaim', claimId: wind });
  for (let amount = 1; amount <= EDITS; amount += 1) await give({ type: 'EditClaim', claimId: hail, amount });
  for (const claimId of claims)
    await give({ type: 'AddNote', claimId, authorId: agent, text: `Of ${claimId}.` });
  await give({ type: 'CloseTeam', teamId: second });
  await give({ type: 'DeleteUser', userId: former });
  const idle = await register('idle', 'customer');
  await until(
    () => deactivatePerson(side.pool, idle),
    (isDeactivated) => isDeactivated,
  );
};
