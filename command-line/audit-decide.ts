import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import { type Decisions, decide } from '#shared/authentic-events/change-statement.ts';
import { migrateAuthenticEvents } from '#shared/authentic-events/migrate.ts';
import { type Connection, openPool, type Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { migrateEventIndex } from '#shared/event-index/event-index.ts';
import { indexAgain, indexedAs } from '#shared/event-index/index-again.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { NOT_AUTHENTIC } from '#shared/event-log/foreign-record.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { type Command, type Given, numberOf } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { foreignIn, type Refused, refusedIn } from './audit-refused.ts';
import { demandMasterKey } from './installation/authentic.ts';
import { openInstallation } from './installation/installation.ts';
import { number } from './output/progress.ts';
import type { Terminal } from './terminal.ts';

const OPTIONS = {
  version: {
    type: 'string',
    placeholder: '<version>',
    description: 'The version of the event in its stream.',
  },
  all: { type: 'boolean', description: 'Decides about all events without the right MAC.' },
  yes: { type: 'boolean', description: 'Does it without asking.' },
} as const;

export const auditAccept: Command = {
  name: 'audit accept',
  summary:
    'Says that an event without the right MAC is authentic: an earlier release wrote it after the upgrade, or it was restored.',
  positionals: ['[<stream>]'],
  options: OPTIONS,
  examples: ['audit accept {kind}-42 --version 3', 'audit accept --all'],
  run: (given, terminal) =>
    decideAll(given, terminal, {
      asks: 'Do these events count from now on, as if commands had written them?',
      async decide(pool, found, store) {
        const chained = await foreignIn(pool, found, START);
        // The chain may have grown meanwhile. It waits while this is decided, and reads then what was (follow-chain.ts).
        await inTransaction(pool, async (connection) => {
          await connection.query('lock table audit.block in share row exclusive mode');
          const since = await foreignIn(connection, found, chained.upTo);
          const foreign = new Set([...chained.events, ...since.events]);
          const [counted, others] = [true, false].map((is) =>
            found.filter((event) => foreign.has(event) === is).map(({ digest }) => digest),
          ) as [string[], string[]];
          await store(
            connection,
            new Map([
              ['accepted', others],
              ['accepted, chained as foreign', counted],
            ]),
          );
        });
      },
      completes: countAgain,
      follows: 'They count within a minute. Then apply them: npm run annals -- projection retry --all.',
    }),
};

export const auditReject: Command = {
  name: 'audit reject',
  summary: 'Says that an event that no command wrote is known: audit verify reports it no more.',
  positionals: ['[<stream>]'],
  options: OPTIONS,
  examples: ['audit reject {kind}-42 --version 3', 'audit reject --all --yes'],
  run: (given, terminal) =>
    decideAll(given, terminal, {
      asks: 'Are these events known to be no events of yours?',
      decide: (pool, found, store) => store(pool, new Map([['rejected', found.map(({ digest }) => digest)]])),
      follows:
        'They stay in the log, and are reported no more. projection release skips those that park their stream.',
    }),
};

export const auditTrustLog: Command = {
  name: 'audit trust-log',
  summary:
    'Says that all events of the log are authentic, if neither the database nor AUDIT_DIR says since when they are.',
  positionals: [],
  options: { yes: OPTIONS.yes },
  examples: ['audit trust-log'],
  async run(given, terminal) {
    await confirm(given, terminal, 'Do all events that are in the log now count, whoever wrote them?');
    await using installation = await openInstallation(terminal, { mayBeginAnew: true });
    await terminal.write(
      `The events of the log ${installation.eventLog.identity} need a MAC from now on, and not before: start Annals.`,
    );
  },
};

type Store = (database: Pool | Connection, decisions: Decisions) => Promise<void>;

type Deciding = {
  readonly asks: string;
  /** Decides about events, which come in the order of the log, and stores that. */
  decide(pool: Pool, found: readonly Refused[], store: Store): Promise<void>;
  /** Completes a decision, and one before that did not come to its end. */
  completes?(terminal: Terminal, pool: Pool): Promise<void>;
  /** The next step of the operator. */
  readonly follows: string;
};

/** More would tell nobody more; `audit verify` finds them all. */
const LISTED_MAX = 100;

const decideAll = async (given: Given, terminal: Terminal, deciding: Deciding): Promise<void> => {
  const isMeant = readRequest(given);
  await using installation = await openInstallation(terminal);
  const { config, databaseUrl, eventLog } = installation;
  await using pool = openPool({
    url: databaseUrl,
    applicationName: 'annals-command-line',
    connectionsMax: 1,
  });
  const masterKey = await demandMasterKey(config, pool);
  await migrateAudit(pool);
  await migrateAuthenticEvents(pool);
  const found = await refusedIn(eventLog, isMeant);
  if (found.length === 0) {
    await deciding.completes?.(terminal, pool);
    return terminal.write((await beforeStart(eventLog, given)) ?? 'No such event lacks the right MAC.');
  }
  for (const { stream, version, type, position } of found.slice(0, LISTED_MAX))
    await terminal.write(`${stream}@${version}  ${type}  at position ${position}`);
  if (found.length > LISTED_MAX)
    await terminal.write(
      `… and ${number(found.length - LISTED_MAX)} more, ${number(found.length)} events in all.`,
    );
  await confirm(given, terminal, deciding.asks);
  await deciding.decide(pool, found, (database, decisions) =>
    decide({ pool: database, masterKey, auditDir: config.audit.dir }, eventLog.identity, decisions),
  );
  await deciding.completes?.(terminal, pool);
  await terminal.write(deciding.follows);
};

/** Reads again the events that did not count when they were indexed, and corrects the entries of those that count. */
const countAgain = async (terminal: Terminal, pool: Pool): Promise<void> => {
  await using installation = await openInstallation(terminal);
  await migrateEventIndex(pool);
  const { after, positions } = await indexedAs(pool, NOT_AUTHENTIC);
  const last = Math.min(Math.max(START, ...positions.slice(-1)), await installation.eventLog.head());
  const among = new Set(positions);
  const range = { after, upTo: last as Position };
  for await (const page of readBetween(installation.eventLog, range)) {
    const counting = page.filter(({ position, type }) => among.has(position) && type !== NOT_AUTHENTIC);
    if (counting.length > 0) await indexAgain(pool, counting);
  }
};

/** The answer about an event that no operator can decide about; undefined if there is none. */
const beforeStart = async (eventLog: EventLog, given: Given): Promise<string | undefined> => {
  const { stream, version } = namedIn(given);
  if (stream === undefined || version === undefined) return undefined;
  for await (const [event] of eventLog.read(stream, version, version))
    if (event !== undefined && event.position <= START)
      return `The event is at position ${event.position}, before the first of the log, where no event can count: docs/runbooks.md, “Events that no command wrote”.`;
  return undefined;
};

const namedIn = (given: Given) => {
  const [stream] = given.positionals as readonly StreamName[];
  const version = numberOf(given, 'version', { minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
  return { stream, version: version as Version | undefined };
};

const readRequest = (given: Given): ((event: RecordedEvent) => boolean) => {
  const { stream, version } = namedIn(given);
  if (given.flags.has('all') === (stream !== undefined) || (stream === undefined) !== (version === undefined))
    throw new UsageError('give either <stream> and --version, or --all');
  return (event) => stream === undefined || (event.stream === stream && event.version === version);
};

const confirm = async ({ flags }: Given, terminal: Terminal, question: string): Promise<void> => {
  if (flags.has('yes')) return;
  if (!terminal.confirm) throw new UsageError('there is no terminal to confirm on: add --yes');
  if (!(await terminal.confirm(question))) throw new StartRefused('Nothing was decided.');
};
