import type { Operation } from '#kernel/base/operation.ts';
import type { RejectionCode } from '#kernel/base/rejection.ts';
import type { Expression } from '#kernel/conditions/expression.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { Kind, ListInfo } from '#kernel/registry/registry.ts';
import type { Needs } from './needs.ts';

/** A field of an aggregate, and its column. */
export type Member = {
  readonly name: string;
  readonly def: FieldDef;
  readonly column: string;
  /** The kind that a reference points to. */
  readonly target: Kind | undefined;
  /** The right to read the field, if it needs more than the right to the aggregate. */
  readonly guard: Operation | undefined;
  /**
   * True if everybody who reads the row may read every target of the reference. Only then a deleted user is
   * shown, as a name.
   */
  readonly showsEnded: boolean;
};

export type Filter = {
  readonly name: string;
  readonly column: string;
  /**
   * How the given value is compared: with the column, with an element of the column, as the id of a
   * reference, or as words.
   */
  readonly by: 'value' | 'element' | 'id' | 'words';
  readonly def: FieldDef | undefined;
  /**
   * The right to read the field, if it needs more than the right to the aggregate. For other callers it has
   * no value.
   */
  readonly guard: Operation | undefined;
};

export type Sort = {
  readonly name: string;
  readonly column: string;
  /**
   * The state that the event leads to, if this sorts by the time of an event. Only aggregates in it are
   * listed.
   */
  readonly state: string | undefined;
  /** True if some aggregates have no value in any state; they are omitted. */
  readonly isPartial: boolean;
  /**
   * The right to read the field, if it needs more than the right to the aggregate. Aggregates whose field the
   * caller may not read are omitted.
   */
  readonly guard: Operation | undefined;
};

/** Aggregates that are listed under another: its children, or what a user owns. */
export type Child = { readonly kind: Kind; readonly reference: string; readonly column: string };

/** How the aggregates of one kind are read by every reader: compiled once from the declaration. */
export type Source = {
  readonly kind: Kind;
  readonly table: string;
  readonly right: Operation;
  readonly members: readonly Member[];
  /** The rights to guarded values, by field, `createdAt` and `updatedAt` included. */
  readonly guards: ReadonlyMap<string, Operation>;
  /** A caller with all of these rights sees the whole aggregate, and so when and how often it changed. */
  readonly whole: readonly Operation[];
  /** The rights without which nobody sees when it was changed. Users have a right of their own for that. */
  readonly traced: readonly Operation[];
  readonly filters: readonly Filter[];
  /** By creation first. */
  readonly sorts: readonly Sort[];
  readonly isNewestFirst: boolean;
  /** Rows of deleted aggregates stay, because others show their names. */
  readonly staysWhenEnded: boolean;
  /**
   * The column that distinguishes existing rows from those that are only a name for others, or are about to be
   * deleted with their owner.
   */
  readonly presence: { readonly column: string; readonly isNull: boolean } | undefined;
  readonly parent: Member | undefined;
  readonly owner: Member | undefined;
  readonly children: readonly Child[];
  readonly items: readonly ItemSource[];
  readonly needs: Needs;
  /**
   * By reference, the facts on which the right to read its target depends. Only of targets whose label is
   * shown, and that some readers of the aggregate may not read.
   */
  readonly targets: ReadonlyMap<string, Needs>;
};

type OrderColumn = { readonly name: string; readonly type: 'text' | 'bigint' | 'timestamptz' };

/** How the items of one list are read by every reader: compiled once from the declaration. */
export type ItemSource = {
  readonly kind: Kind;
  readonly list: ListInfo;
  readonly table: string;
  /** The column with the id of the aggregate. */
  readonly of: string;
  /** The key comes first, if it is a field. */
  readonly members: readonly Member[];
  /** By fields with `filter()`. */
  readonly filters: readonly Filter[];
  /** By fields with `sort()`. */
  readonly sorts: readonly Pick<Sort, 'name' | 'column' | 'isPartial'>[];
  /** The order of the items. The last column is unique within a list. */
  readonly order: readonly OrderColumn[];
  readonly descending: boolean;
  /** True if the order leaves out items without a value in its first column. */
  readonly isPartial: boolean;
  /** The error if there is no such item. */
  readonly absent: RejectionCode;
  /** Items that need a right beyond the right to their aggregate. */
  readonly part: { readonly right: Operation; readonly of: Expression; readonly kind: Kind } | undefined;
};

export type Sources = {
  /** The kinds of the domain. */
  readonly all: readonly Source[];
  /** The kinds that the kernel itself manages. */
  readonly managed: readonly Source[];
  of(kind: string): Source | undefined;
};
