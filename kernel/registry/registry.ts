// Over 200 lines, because it is one type: the declaration as interpreters read it.
import type { JsonObject } from '#shared/json.ts';
import type { RejectionCode } from '#shared/rejection.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Commanded, Run } from '../declare/run.ts';

/** The declaration as interpreters read it: every name derived once, every reference resolved. */
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
  /** Of whose items it adds, changes, moves or removes one. */
  readonly list: ListInfo | undefined;
  /** Given by forms. */
  readonly content: readonly string[];
  /** Given by the decision. */
  readonly computes: readonly string[];
  /** All of the fields that it gives a value which it holds. */
  readonly values: readonly string[];
  readonly carries: readonly string[];
  readonly sets: Readonly<Record<string, unknown>>;
  /** Fields whose values follow from what it holds. */
  readonly projects: Readonly<Record<string, Projection>>;
  readonly says: string | undefined;
  readonly example: Row | undefined;
  readonly version: number;
  readonly upcast: Readonly<Record<number, (data: JsonObject) => JsonObject>>;
  /** Nobody outside sees it. */
  readonly internal: boolean;
  readonly spec: Readonly<Record<string, unknown>>;
};
/** What tells items apart, as events, forms and paths name it, and what it is. */
type ItemId = { readonly name: string; readonly column: string; readonly def: FieldDef };
export type ListInfo = {
  readonly name: string;
  /** What one of its items is called. */
  readonly one: string;
  /** Of the read model. */
  readonly table: string;
  /** What an item holds beside what tells it from the others. */
  readonly fields: Defs;
  /** The field that tells items apart; otherwise they are numbered. */
  readonly key: string | undefined;
  readonly id: ItemId;
  readonly max: number;
  /** By ranks; otherwise by ids. */
  readonly isOrdered: boolean;
  /**
   * Fields by which it is said who may read an item. They stay as they were when it was added, and every
   * event of it says them.
   */
  readonly settled: readonly string[];
};
/** A sum over a field of the items, or how many there are. */
export type Derived = { readonly name: string; readonly list: ListInfo; readonly field: string | undefined };
export type CommandKind =
  | 'create'
  | 'edit'
  | 'action'
  | 'end'
  | 'addItem'
  | 'changeItem'
  | 'moveItem'
  | 'removeItem';
export type CommandInfo = {
  readonly name: string;
  readonly kind: CommandKind;
  readonly events: readonly EventInfo[];
  readonly list: ListInfo | undefined;
  readonly form: readonly string[];
  readonly requires: readonly string[];
  readonly next: readonly string[];
  readonly internal: boolean;
  /** As one would ask for it. */
  readonly says: string | undefined;
  readonly when: unknown;
  /** The references whose aggregates stay as they were read until its events are appended. */
  readonly reads: readonly string[];
  readonly decide: ((given: never) => readonly (string | readonly [string, Row])[]) | undefined;
};
export type Row = Readonly<Record<string, unknown>>;
export type TimerInfo = {
  readonly name: string;
  /** The type of the event. */
  readonly after: string;
  readonly waitMs: number;
  readonly run: string;
  readonly while: unknown;
  readonly unless: unknown;
  readonly pause: unknown;
};
/** As authors write it, without their types. */
type React = (
  event: Row,
  given: { readonly state: Row; readonly run: Run },
) => Commanded | readonly Commanded[];
/**
 * So many aggregates at most have the same values of some fields, of those of which a condition is true. What
 * is unique is a limit of one. Where one of the values is null, there is no limit.
 */
export type LimitInfo = {
  readonly name: string;
  readonly per: readonly string[];
  readonly max: number;
  readonly while: unknown;
  readonly refusal: Refusal;
  /** The name of the event that moves a stream on whose claim was given up. */
  readonly fence: string;
};
/** With its sentence, if that does not follow from the code. */
export type Refusal = { readonly code: RejectionCode; readonly says?: string };
/** SQL of an author, between columns of a row and what is given. */
export type SqlText = readonly (string | { readonly column: string } | { readonly given: true })[];
type Written = {
  readonly name: string;
  readonly says: string | undefined;
  readonly text: SqlText;
  /** The fields whose columns it names. */
  readonly uses: readonly string[];
};
export type ExpressionInfo = Written & { readonly def: FieldDef; readonly value: (state: Row) => unknown };
export type CustomFilterInfo = Written & {
  readonly def: FieldDef;
  readonly holds: (state: Row, given: unknown) => boolean;
};

/** What follows from an event without what is personal in it. */
export type Projection = (data: Row) => unknown;
export type Kind = {
  readonly name: string;
  readonly plural: string;
  /** Of the read model. */
  readonly table: string;
  /** In addresses and scopes. */
  readonly path: string;
  /** Of GraphQL. */
  readonly type: string;
  readonly field: string;
  /** Without the lists, and with the numbers that follow from them. */
  readonly fields: Defs;
  readonly lists: Readonly<Record<string, ListInfo>>;
  readonly owner: string | undefined;
  readonly parent: string | undefined;
  readonly label: string | undefined;
  /** What it is, in one sentence. */
  readonly says: string | undefined;
  /** References that every event names, so that nothing has to be looked up. */
  readonly identity: readonly string[];
  /**
   * Those of them that lead to the person of its personal fields, each with the path that its creation
   * follows.
   */
  readonly persons: Readonly<Record<string, readonly string[]>>;
  /** Numbers among its fields that follow from its lists. */
  readonly derived: readonly Derived[];
  readonly facts: Readonly<Record<string, unknown>>;
  readonly events: Readonly<Record<string, EventInfo>>;
  readonly commands: Readonly<Record<string, CommandInfo>>;
  /** What is answered where a fact is not true, by the facts whose author says so. */
  readonly refusals: Readonly<Record<string, Refusal>>;
  readonly rights: Readonly<Record<string, Row>>;
  readonly fieldRights: Readonly<Record<string, Row>>;
  readonly invariants: Readonly<Record<string, unknown>>;
  readonly limits: readonly LimitInfo[];
  readonly reactions: Readonly<
    Record<string, Readonly<Record<string, { readonly run: string; readonly when?: unknown }>>>
  >;
  /** By the names of its events. */
  readonly react: Readonly<Record<string, React>>;
  readonly timers: Readonly<Record<string, TimerInfo>>;
  /** Fields of GraphQL alone, which are SQL. */
  readonly expressions: readonly ExpressionInfo[];
  /** By what lists can be narrowed beside its fields. */
  readonly filters: readonly CustomFilterInfo[];
  /** What the rows of the read model are made with, beside what events hold. */
  readonly projectionVersions: readonly string[];
  readonly oldestFirst: boolean;
  /** It is the kernel’s own, told to its owner and to whoever manages all, and its rows go with its owner. */
  readonly isManaged?: true;
};
/**
 * Where a value of a share comes from: a number, the moment of the event, or a field; its opposite where it
 * is taken away.
 */
export type ShareSource = {
  readonly from: number | 'now' | { readonly field: string };
  readonly isNegative: boolean;
};
export type ShareEffect = {
  /** `gives` makes a share, or another of it; `changes` is nothing without one. */
  readonly kind: 'gives' | 'changes' | 'ends';
  /** By the names of values. */
  readonly sets: Readonly<Record<string, ShareSource>>;
  readonly adds: Readonly<Record<string, ShareSource>>;
};
/** What each aggregate of a kind has of a view: one row, that its events alone decide. */
export type ShareInfo = {
  readonly kind: string;
  /** Of the read model. */
  readonly table: string;
  /** By the parts of the key: a field, or `id`. */
  readonly by: Readonly<Record<string, string>>;
  /** By the names of events. */
  readonly on: Readonly<Record<string, ShareEffect>>;
  /** The names of the view’s values that it has a part of. */
  readonly values: readonly string[];
};
export type ViewValue = {
  readonly kind: 'count' | 'sum' | 'latest';
  readonly def: FieldDef;
};
/** Numbers and latest values by a key, of the events of several streams. */
export type ViewInfo = {
  readonly name: string;
  /** Of the read model. */
  readonly table: string;
  /** In addresses and scopes. */
  readonly path: string;
  /** Of GraphQL. */
  readonly type: string;
  readonly says: string | undefined;
  readonly key: Defs;
  readonly values: Readonly<Record<string, ViewValue>>;
  readonly shares: readonly ShareInfo[];
  /** Its key and its rights, as conditions ask them. */
  readonly asked: Kind;
};
/** A read of the domain’s own. */
export type RouteInfo = {
  readonly name: string;
  readonly path: string;
  readonly says: string;
  readonly right: string;
  /** The parameters of its query. */
  readonly takes: Defs;
  /** What each item has. */
  readonly gives: Defs;
  /** With places for values, which are given in this order. */
  readonly text: string;
  readonly given: readonly string[];
};
export type Domain = {
  readonly name: string;
  /** With `anonymous` and `admin`. */
  readonly roles: readonly string[];
  /** What people become who create an account for themselves, unless the operator says otherwise. */
  readonly signUp: string;
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly views: readonly ViewInfo[];
  readonly routes: readonly RouteInfo[];
};
