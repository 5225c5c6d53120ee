import type { Position } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { type Clock, dateElsewhereMs } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { START } from '#shared/event-log/event-log.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/log.ts';
import { KeptLog, type RefusedEvent, UPGRADED_WITHIN_MS } from './authentic-log.ts';
import { createEventMac } from './event-mac.ts';
import { findStatement, keepStatement } from './keep-statement.ts';
import { lookAgain } from './look-again.ts';
import { decidedIn, lookAtDecisions } from './look-at-decisions.ts';
import { migrateAuthenticEvents } from './migrate.ts';
import type { OpenedLog } from './opened-log.ts';
import { combined, isSame, type Statement } from './statement.ts';
import { hasFile, removeLeftoversIn } from './statement-file.ts';
import { readRow } from './statement-row.ts';

export type Dependencies = {
  /** Of the database of the installation, wherever its log is. */
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  /** The folder of the audit; without one, only the database is asked. */
  readonly auditDir?: string | undefined;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** A process that only reads changes neither the database nor the folder before it appends an event after all. */
  readonly isReader?: boolean;
  /** The operator says that what is in the log now is authentic, although nothing says since when. */
  readonly mayBeginAnew?: boolean;
};

/** How often a process looks whether the upgrade is over, what others have said, and whether events are right again. */
const LOOK_EVERY_MS = 60_000;
/** The upgrade is over once no event without a MAC was stored for this time. */
const STILL_MS = 3_600_000;

type Found = { readonly statement: Statement; readonly isStored: boolean };

/** Finds and keeps what says since when the events of one log are authentic. */
export class Authenticity {
  readonly #dependencies: Dependencies;
  readonly #opened: OpenedLog;
  readonly #authenticating;

  constructor(dependencies: Dependencies, opened: OpenedLog) {
    this.#dependencies = dependencies;
    this.#opened = opened;
    const mac = createEventMac(dependencies.masterKey);
    this.#authenticating = { mac, log: opened.identity };
  }

  async open(): Promise<KeptLog> {
    const { clock, auditDir, isReader = false } = this.#dependencies;
    const { showsMacs } = this.#opened;
    const { mac, log } = this.#authenticating;
    if (auditDir !== undefined && !isReader) await removeLeftoversIn(auditDir, log, dateElsewhereMs(clock));
    const { statement, isStored } = await this.#find();
    return new KeptLog(statement, await decidedIn(this.#dependencies, statement), {
      ...{ mac, clock, showsMacs },
      onRefused: (event) => this.#report(event),
      store: isStored ? undefined : (unstored) => this.#storeLate(unstored),
    });
  }

  async lookNowAndThen(log: KeptLog, signal: AbortSignal): Promise<void> {
    const { clock } = this.#dependencies;
    while (!signal.aborted) {
      await clock.sleep(LOOK_EVERY_MS, signal, { ref: false });
      if (signal.aborted) return;
      // A database that does not answer now does at the next look.
      await this.#look(log).catch((err: unknown) => this.#dependencies.log.warn({ err }, NOT_LOOKED));
    }
  }

  async #look(log: KeptLog): Promise<void> {
    const { pool, isReader = false } = this.#dependencies;
    const row = await readRow(pool, this.#authenticating);
    if (row !== undefined) log.statement = combined(row, log.statement);
    if (!isReader && !isSame(row, log.statement)) await this.#writeBack(log);
    await lookAtDecisions(this.#dependencies, log);
    if (log.statement.epochs.length === 0 && !isReader) await this.#endUpgrade(log);
    await lookAgain(log, this.#opened, (err, event) =>
      this.#dependencies.log.warn(
        { err, ...event },
        'It cannot be found out whether the event is right now.',
      ),
    );
  }

  async #endUpgrade(log: KeptLog): Promise<void> {
    if (!(await this.#isUpgraded(log.statement))) return;
    const { statement } = log;
    const { identity: scope, head } = this.#opened;
    const epochs = [{ scope, from: await head() }];
    log.statement = await this.#store({ ...statement, n: statement.n + 1, epochs });
    this.#dependencies.log.info(
      { after: epochs[0]?.from },
      'From now on, every event of the log needs a MAC.',
    );
  }

  /** Processes combine all that they have read, so a row that says less is none of theirs. */
  async #writeBack(log: KeptLog): Promise<void> {
    this.#dependencies.log.error(
      { log: log.statement.log },
      'Somebody has removed or changed the row of public.authentic_events, which says since when the events of the log are authentic, or the database was restored to an earlier time. It is written again.',
    );
    log.statement = await this.#store(log.statement);
  }

  async #isUpgraded({ since }: Statement): Promise<boolean> {
    const nowMs = this.#dependencies.clock.nowMs();
    if (nowMs < Date.parse(since) + UPGRADED_WITHIN_MS) return false;
    return !(await this.#opened.hasBareWithin(STILL_MS));
  }

  /** All that is said about this log, or its first statement. */
  async #find(): Promise<Found> {
    const found = await findStatement(this.#dependencies, this.#authenticating);
    return found === undefined ? this.#begin() : this.#found(found);
  }

  async #found(found: Statement): Promise<Found> {
    const { isReader = false } = this.#dependencies;
    const head = await this.#opened.head();
    if (!found.epochs.some(({ from }) => from > head))
      return { statement: isReader ? found : await this.#store(found), isStored: true };
    // A log that was restored to an earlier time: its new events need a MAC too. It is written before the first of them,
    // and not now: a start on an older copy of the log is refused in a moment, and must not change what counts.
    const epochs = found.epochs.map(({ scope, from }) => ({ scope, from: Math.min(from, head) as Position }));
    return { statement: { ...found, n: found.n + 1, epochs }, isStored: false };
  }

  async #begin(): Promise<Found> {
    const { clock, auditDir, isReader = false, mayBeginAnew = false } = this.#dependencies;
    const { identity: log, head, hasMacs } = this.#opened;
    const at = await head();
    const isAnew = at === START || mayBeginAnew;
    if (!isAnew && ((auditDir !== undefined && (await hasFile(auditDir))) || (await hasMacs()))) {
      // Another process may have begun meanwhile.
      const found = await findStatement(this.#dependencies, this.#authenticating);
      if (found === undefined) throw new StartRefused(UNKNOWN_SINCE);
      return this.#found(found);
    }
    if (!isAnew && !isReader)
      this.#dependencies.log.warn(
        { log, after: at },
        'Neither the database nor AUDIT_DIR says since when the events of the log are authentic, and none has a MAC: an upgrade from an earlier release begins. If there was none, somebody has removed what they said: docs/runbooks.md, “Events that no command wrote”.',
      );
    const epochs = isAnew ? [{ scope: log, from: at }] : [];
    const since = new Date(clock.nowMs()).toISOString();
    const statement: Statement = { v: 1, n: 1, log, since, epochs, decided: [] };
    return isReader && !mayBeginAnew
      ? { statement, isStored: false }
      : { statement: await this.#store(statement), isStored: true };
  }

  /** A process of an earlier release may have appended since this one has opened the log, and another has said so. */
  async #storeLate(unstored: Statement): Promise<Statement> {
    const { statement } = await this.#find();
    const isRestored = unstored.n > 1;
    return this.#store(isRestored ? combined(statement, unstored) : statement);
  }

  async #store(statement: Statement): Promise<Statement> {
    const { pool, auditDir, log } = this.#dependencies;
    await migrateAuthenticEvents(pool);
    const onUnwritable = (err: unknown) =>
      log.warn({ err }, `It cannot be noted in ${auditDir} since when the events of the log are authentic.`);
    return keepStatement({ pool, auditDir, onUnwritable }, statement, this.#authenticating);
  }

  #report(event: RefusedEvent): void {
    this.#dependencies.log.error(
      event,
      'The event log has an event that no command wrote: its MAC is missing or wrong. It does not count, and its stream is parked: docs/runbooks.md, “Events that no command wrote”.',
    );
  }
}

const NOT_LOOKED =
  'It cannot be found out since when the events of the log are authentic, and whether the upgrade is over. It is tried again in a minute.';

const UNKNOWN_SINCE =
  'Events of the log have MACs, but neither the database nor AUDIT_DIR says from which event on: somebody has removed that, or this database and AUDIT_DIR are not those of the log. ' +
  'Follow “Events that no command wrote” in docs/runbooks.md.';
