import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { hasOurFields } from '#kernel/base/events/metadata.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { foreignRecord, refusedContent } from '#shared/event-log/foreign-record.ts';
import type { Decided } from './decided.ts';
import type { EventMac, MacInput } from './event-mac.ts';
import type { Statement } from './statement.ts';

/** An event about to be stored at a place, with its content as JSON text. */
type Placed = Omit<MacInput, 'scope'>;

/** The content that an engine has stored, and its MAC in hex. */
export type StoredContent = { readonly data: string; readonly metadata: string; readonly mac: string | null };

/** The MACs of one log: each event gets one when it is appended, and must have the right one when it is read. */
export type AuthenticLog = {
  /**
   * Stores since when events need a MAC, if that is not stored yet: called before each append, because a log with
   * MACs about which nothing is stored is not opened.
   */
  beforeAppend(): Promise<void> | undefined;
  /** Undefined while processes of an earlier release, which cannot read an event with a MAC, may run. */
  macOf(event: Placed): string | undefined;
  /**
   * The event as it counts: itself, or a record of somebody else if no command wrote it. Everything that reads the
   * log decodes its events here.
   */
  admit(event: RecordedEvent, stored: StoredContent): RecordedEvent;
  /** The events without the right MAC that this process has met, the first ones that have not been put right. */
  readonly refused: readonly RefusedEvent[];
};

export type RefusedEvent = Pick<RecordedEvent, 'stream' | 'version' | 'position'>;

/** Each is read again once a minute. */
const REFUSED_KEPT_MAX = 100;

/** Events without the right MAC that are not named are after the one position, up to the other. */
type Unnamed = { readonly after: Position; readonly upTo: Position };

/** An upgrade has replaced all processes within this time. */
export const UPGRADED_WITHIN_MS = 86_400_000;

type Options = {
  readonly mac: EventMac;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Whether earlier releases see the MACs that this engine stores. */
  readonly showsMacs: boolean;
  readonly onRefused: (event: RefusedEvent) => void;
  /** Undefined if the statement is stored. */
  readonly store: ((statement: Statement) => Promise<Statement>) | undefined;
};

export class KeptLog implements AuthenticLog {
  readonly #options: Options;
  readonly #refused = new Map<Position, RefusedEvent>();
  #unnamed: Unnamed | undefined;
  #storing: Promise<void> | undefined;
  #isStored: boolean;
  statement: Statement;
  decided: Decided;

  constructor(statement: Statement, decided: Decided, options: Options) {
    this.statement = statement;
    this.decided = decided;
    this.#options = options;
    this.#isStored = options.store === undefined;
  }

  beforeAppend(): Promise<void> | undefined {
    if (this.#isStored) return undefined;
    this.#storing ??= this.#store().finally(() => {
      this.#storing = undefined;
    });
    return this.#storing;
  }

  async #store(): Promise<void> {
    this.statement = (await this.#options.store?.(this.statement)) ?? this.statement;
    this.#isStored = true;
  }

  get refused(): readonly RefusedEvent[] {
    return [...this.#refused.values()];
  }

  /** The event is right now, or gone. */
  forget({ position }: RefusedEvent): void {
    this.#refused.delete(position);
  }

  /** Where there may be more than those, because they were too many to keep. */
  get unnamed(): Unnamed | undefined {
    return this.#unnamed;
  }

  /** Unless there are more since. */
  forgetUnnamed(looked: Unnamed): void {
    if (this.#unnamed === looked) this.#unnamed = undefined;
  }

  macOf(event: Placed): string | undefined {
    const { mac, clock, showsMacs } = this.#options;
    const { epochs, since, log } = this.statement;
    if (showsMacs && epochs.length === 0 && clock.nowMs() < Date.parse(since) + UPGRADED_WITHIN_MS)
      return undefined;
    const { stream, version, id, type, metadata, data } = event;
    return mac.ofEvent({ scope: log, stream, version, id, type, metadata, data });
  }

  admit(event: RecordedEvent, { data, metadata, mac }: StoredContent): RecordedEvent {
    const { stream, version, id, type, position } = event;
    const scope = this.#scopeAt(position);
    if (scope === undefined) return event;
    const input = { scope, stream, version, id, type, data, metadata };
    const isAfterStart = position > START;
    if (isAfterStart && mac === this.#options.mac.ofEvent(input)) return event;
    // The record has not the form of an event, but some readers go by the type and the stream alone.
    if (!hasOurFields(event.metadata)) return { ...event, ...foreignRecord(event, { data, metadata }) };
    const digest = this.#options.mac.digestOf(input);
    const decision = isAfterStart ? this.decided.about(digest) : undefined;
    if (decision === 'accepted') return event;
    const foreign = refusedContent({ type, data, metadata });
    if (decision === 'accepted, chained as foreign') return { ...event, chained: foreign };
    if (decision === 'rejected') return { ...event, ...foreign };
    this.#note({ stream, version, position });
    return { ...event, ...foreign, notAuthentic: digest };
  }

  /**
   * The identity with which an event at a position needs a MAC; undefined if it needs none. No log appends before its
   * first position, where no follower and no chain would see it.
   */
  #scopeAt(position: Position): LogIdentity | undefined {
    if (position <= START) return this.statement.log;
    return this.statement.epochs.findLast(({ from }) => position > from)?.scope;
  }

  #note(event: RefusedEvent): void {
    const { position } = event;
    if (this.#refused.has(position)) return;
    if (this.#refused.size < REFUSED_KEPT_MAX) this.#refused.set(position, event);
    else {
      const { after = START, upTo = START } = this.#unnamed ?? {};
      if (position > after && position <= upTo) return;
      this.#unnamed = {
        after: Math.min(after, position - 1) as Position,
        upTo: Math.max(upTo, position) as Position,
      };
      if (upTo > START) return;
    }
    this.#options.onRefused(event);
  }
}
