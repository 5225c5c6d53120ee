// Over 200 lines, because it is one type: the resolved declaration for interpreters.
import type { JsonObject } from '../base/json.ts';
import type { Keeping } from '../base/keeping.ts';
import type { Period } from '../base/period.ts';
import type { RejectionCode } from '../base/rejection.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Commanded, Run } from '../declare/run.ts';
import type { ScheduledTime } from '../declare/scheduled-time.ts';
import type { WithParts } from './parts.ts';
import type { SenderInfo } from './sender-info.ts';

/** The resolved declaration for interpreters: every name is derived once, every reference is resolved. */
export type Defs = Readonly<Record<string, FieldDef>>;
export type Effect =
  | 'creates'
  | 'changes'
  | 'adds'
  | 'updates'
  | 'moves'
  | 'removes'
  | 'ends'
  | 'sets'
  | 'notes';
export type EventInfo = {
  readonly name: string;
  readonly type: string;
  readonly effect: Effect;
  /** The list with the item that the event adds, changes, moves or removes. */
  readonly list: ListInfo | undefined;
  /** The fields of this item that the event sets; all of its data is in the event. */
  readonly item: ItemEffect | undefined;
  /** Fields from the form. */
  readonly content: readonly string[];
  /** Fields from the decision. */
  readonly computes: readonly string[];
  /** All fields that the event sets from its data. */
  readonly values: readonly string[];
  readonly carries: readonly string[];
  /** The key of the former parent in the data of an event that moves the aggregate below another. */
  readonly former: string | undefined;
  readonly sets: Readonly<Record<string, unknown>>;
  readonly says: string | undefined;
  readonly example: Row | undefined;
  readonly version: number;
  readonly upcast: Readonly<Record<number, (data: JsonObject) => JsonObject>>;
  /** No interface shows it. */
  readonly hidden: boolean;
  readonly spec: Readonly<Record<string, unknown>>;
};
export type ItemEffect = {
  /** Fields from the form. */
  readonly content: readonly string[];
  /** Declared values: constants, `now`, `caller` or null. */
  readonly sets: Row;
  /** Fields from the decision. */
  readonly computes: readonly string[];
};
/** The id of items: its name in events, forms and paths, its column and its type. */
type ItemId = { readonly name: string; readonly column: string; readonly def: FieldDef };
export type ListInfo = {
  readonly name: string;
  /** The word for one item. */
  readonly one: string;
  /** The table of the read model. */
  readonly table: string;
  /** The fields of an item without its key. */
  readonly fields: Defs;
  /** The field that identifies items; undefined if they are numbered. */
  readonly key: string | undefined;
  readonly id: ItemId;
  readonly max: number;
  /** True if ordered by ranks, not by ids. */
  readonly isOrdered: boolean;
  /**
   * Fields that decide who may read an item. They never change, and every event of the item contains them.
   */
  readonly settled: readonly string[];
};
/** A sum over a field of the items, or their count. */
export type Derived = { readonly name: string; readonly list: ListInfo; readonly field: string | undefined };
export type CommandKind =
  | 'create'
  | 'edit'
  | 'action'
  | 'end'
  | 'addItem'
  | 'changeItem'
  | 'moveItem'
  | 'removeItem'
  /** Any other change of one item. */
  | 'actOnItem';
export type CommandInfo = {
  readonly name: string;
  readonly kind: CommandKind;
  readonly events: readonly EventInfo[];
  readonly list: ListInfo | undefined;
  /**
   * The word by which its path and its operations on an item end, as `finish`. Undefined for the first
   * command of a list that adds, changes or removes items, which has the path of the list or of the item.
   */
  readonly verb: string | undefined;
  readonly form: readonly string[];
  /** The fields of the item that clients send, without its key. */
  readonly itemForm: readonly string[];
  readonly requires: readonly string[];
  readonly next: readonly string[];
  readonly internal: boolean;
  /** Whether callers must, or may, say why. */
  readonly reason: 'required' | 'optional' | undefined;
  /** Whether a person must approve the call of an agent; undefined if that was never declared. */
  readonly confirm: boolean | undefined;
  /** The meaning of the signature that a person must give for it, as `approval`; undefined if it needs none. */
  readonly signed: string | undefined;
  /** The action in the imperative. */
  readonly says: string | undefined;
  readonly when: unknown;
  /** A condition on the item that the command changes. */
  readonly whenItem: unknown;
  /** References whose targets must not change until the events are appended. */
  readonly reads: readonly string[];
  /** Events that `decide` may append to the targets of references, by reference. */
  readonly also: Readonly<Record<string, readonly string[]>>;
  /** The refusals of `decide`, by name. */
  readonly refuses: Readonly<Record<string, Refusal>>;
  readonly decide:
    | ((given: Row) => readonly (string | readonly [string, Row] | EventElsewhere)[])
    | undefined;
};
/** An event that a decision returns for the target of a reference. */
export type EventElsewhere = { readonly reference: string; readonly event: string; readonly values: Row };
export type Row = Readonly<Record<string, unknown>>;
export type TimerInfo = {
  readonly name: string;
  readonly starts: TimerStart;
  readonly run: string;
  readonly when: unknown;
  readonly pause: unknown;
};
/** By events, given with their types, or by a field with the time. */
export type TimerStart =
  | { readonly after: readonly string[]; readonly wait: TimerWait }
  | { readonly at: string; readonly beforeMs: number; readonly keep?: Keeping };
/** A time, or one for each word of a choice. Without one, the timer never runs out. */
export type TimerWait =
  | { readonly ms: number }
  | { readonly by: string; readonly msOf: Readonly<Record<string, number>> };
export type ScheduleInfo = {
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly run: string;
  readonly when: unknown;
  /** The values of the form, in place of a constant one. */
  readonly form: ((given: ScheduledTime) => Row) | undefined;
  /** How many missed times are caught up; 0 if they are skipped. */
  readonly caughtUpMax: number;
};
/** The reaction as authors write it, without types. */
type React = (given: {
  readonly state: Row;
  readonly form: Row;
  readonly now: string;
  readonly run: Run;
}) => Commanded | readonly Commanded[];
/**
 * The maximum number of aggregates with equal values of some fields, among those that satisfy a condition. A
 * unique field is a limit of one. If a value is null, there is no limit.
 */
export type LimitInfo = {
  readonly name: string;
  readonly per: readonly string[];
  readonly max: number;
  readonly when: unknown;
  readonly refusal: Refusal;
  /** The name of the fence event, which advances a stream whose claim was abandoned. */
  readonly fence: string;
};
/** Has a message, unless that derives from the code. */
export type Refusal = { readonly code: RejectionCode; readonly says?: string };
type LoggedReadsInfo = {
  /** Fields, lists and derived numbers; undefined if a read of anything is recorded. */
  readonly only: readonly string[] | undefined;
  readonly ifUnwritable: 'refuse' | 'serve';
};
export type Kind = {
  readonly name: string;
  readonly plural: string;
  /** The table of the read model. */
  readonly table: string;
  /** The segment in paths and scopes. */
  readonly path: string;
  readonly type: string;
  readonly field: string;
  /** Without lists, but with the numbers derived from them. */
  readonly fields: Defs;
  readonly lists: Readonly<Record<string, ListInfo>>;
  readonly owner: string | undefined;
  readonly parent: string | undefined;
  readonly label: string | undefined;
  /** One sentence that describes it. */
  readonly says: string | undefined;
  /** References in every event, so that no lookup is needed. */
  readonly identity: readonly string[];
  /**
   * The references among them to the person of its personal fields, with the path that its creation follows.
   */
  readonly persons: Readonly<Record<string, readonly string[]>>;
  /** The fields that are derived from lists. */
  readonly derived: readonly Derived[];
  readonly facts: Readonly<Record<string, unknown>>;
  readonly events: Readonly<Record<string, EventInfo>>;
  readonly commands: Readonly<Record<string, CommandInfo>>;
  /** Refusals by fact, as declared. */
  readonly refusals: Readonly<Record<string, Refusal>>;
  readonly rights: Readonly<Record<string, Row>>;
  readonly fieldRights: Readonly<Record<string, Row>>;
  /** Which reads of it are recorded; undefined if none are. */
  readonly reads?: LoggedReadsInfo | undefined;
  /** Whether the reads of auditors are recorded, whatever `reads` says. */
  readonly isAudited?: true;
  readonly invariants: Readonly<Record<string, unknown>>;
  readonly limits: readonly LimitInfo[];
  readonly reactions: Readonly<
    Record<string, Readonly<Record<string, { readonly run: string; readonly when?: unknown }>>>
  >;
  /** Keyed by event. */
  readonly react: Readonly<Record<string, React>>;
  readonly timers: Readonly<Record<string, TimerInfo>>;
  readonly schedules: Readonly<Record<string, ScheduleInfo>>;
  readonly oldestFirst: boolean;
  /**
   * True for aggregates of the kernel: visible to the owner and to administrators, and removed with the
   * owner.
   */
  readonly isManaged?: true;
  /** Nobody can end one while it is under a hold. */
  readonly hold?: true;
  /** For how long one must be kept, before it ends by its timer. */
  readonly retain?: Keeping;
  /** Of the requests of agents: the commands that are asked for, whose rights are those to approve them. */
  readonly confirms?: readonly Confirmed[];
};
/** A command for which agents ask, its aggregate, and the reference of the request to that. */
export type Confirmed = {
  readonly type: string;
  readonly kind: string;
  readonly command: string;
  /** Undefined for a creation, which has no aggregate yet. */
  readonly reference: string | undefined;
  /** The meaning of the signature that its approval needs; undefined if it needs none. */
  readonly signed: string | undefined;
};
/**
 * The source of a value in a share: a number, the time of the event, or a field; negated if it is subtracted.
 */
export type ShareSource = {
  readonly from: number | 'now' | { readonly field: string };
  readonly isNegative: boolean;
};
export type ShareEffect = {
  /** `gives` creates or replaces the share; `changes` has no effect without one. */
  readonly kind: 'gives' | 'changes' | 'ends';
  /** Keyed by value. */
  readonly sets: Readonly<Record<string, ShareSource>>;
  readonly adds: Readonly<Record<string, ShareSource>>;
};
/** The contribution of each aggregate of a kind to a view: one row, computed from its own events only. */
export type ShareInfo = {
  readonly kind: string;
  /** The table of the read model. */
  readonly table: string;
  /** By part of the key: the name of a field, or `id`. */
  readonly by: Readonly<Record<string, string>>;
  /** The parts of the key that are periods of this field, or of the time of the event: `now`. */
  readonly periods?: Readonly<Record<string, Period>>;
  /** Keyed by event. */
  readonly on: Readonly<Record<string, ShareEffect>>;
  /** The view’s values to which it contributes. */
  readonly values: readonly string[];
};
export type ViewValue = {
  readonly kind: 'sum' | 'avg' | 'latest' | 'min' | 'max';
  readonly def: FieldDef;
};
/** Numbers and latest values by key, computed from events of several streams. */
export type ViewInfo = {
  readonly name: string;
  /** The table of the read model. */
  readonly table: string;
  /** The segment in paths and scopes. */
  readonly path: string;
  readonly type: string;
  readonly says: string | undefined;
  readonly key: Defs;
  readonly values: Readonly<Record<string, ViewValue>>;
  readonly shares: readonly ShareInfo[];
  /** The key and the rights in the form of a kind, for conditions. */
  readonly asked: Kind;
};
export type Domain = WithParts & {
  readonly name: string;
  /** Includes `anonymous` and `admin`, and `auditor` if the domain has auditors. */
  readonly roles: readonly string[];
  /** Whether it has the role `auditor`, with the rights that the kernel gives it. */
  readonly auditors?: true | undefined;
  /** The role after sign-up, unless the operator configures another. */
  readonly signUp: string;
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly views: readonly ViewInfo[];
  /** The services whose messages become commands, with the part `inbox()`. */
  readonly senders?: readonly SenderInfo[];
  /** Whether its files can be changed while it is served, in development. */
  readonly develops?: true;
};
