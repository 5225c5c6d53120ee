import type { Cursor } from '#kernel/base/cursor.ts';
import type { ShownSignature } from '#kernel/base/signature.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { tablesOf } from '#shared/read-model/tables.ts';

/** A change, as payloads of subscriptions show it. */
export type SubscriptionEvent = {
  readonly cursor: Cursor;
  readonly type: string;
  readonly at: string;
  readonly importedAt: string | null;
  readonly reason: string | null;
  readonly signature: ShownSignature | null;
  /** The kind of the aggregate; undefined if subscriptions do not show it. */
  readonly kind: string | undefined;
  readonly subjectId: string | null;
};

export const subscriptionEventOf = (
  domain: Domain,
  { type, at, importedAt, reason, signature, stream }: Change,
  cursor: Cursor,
): SubscriptionEvent => {
  const row = tablesOf(domain).rowOf(stream);
  return {
    cursor,
    type,
    at: new Date(at).toISOString(),
    importedAt: importedAt ?? null,
    reason: reason ?? null,
    signature: signature ?? null,
    kind: row?.table.kind,
    subjectId: row ? String(row.id) : null,
  };
};
