import { column, wire } from '../base/names.ts';
import type { Kind, Row, ShareInfo, ShareSource, ViewInfo } from '../registry/registry.ts';
import { isOfOneShare } from '../registry/view-of.ts';
import {
  emptyShareOf,
  isEventTime,
  keyPartOf,
  type Positioned,
  positionOf,
  shareNumber,
  shareTableOf,
} from '../rows/shares.ts';
import type { AggregateState } from './state.ts';

/** The columns of the share, without the version. */
export type Share = Row;

/**
 * The contribution of an aggregate to a view after an event. Computed from the state, not from the values
 * that the projection copies from events, so that the two can be compared.
 */
export type FoldShare = (before: Share | null, event: Positioned, after: AggregateState) => Share | null;

export const shareFoldOf = (kind: Kind, view: ViewInfo, share: ShareInfo): FoldShare => {
  const nothing: Share = emptyShareOf(shareTableOf(view, share));
  const keyOf = (fields: Row, event: Positioned, before: Share | undefined): Row =>
    Object.fromEntries(
      Object.entries(share.by).map(([part, field]) => {
        const to = column(part, view.key[part]);
        if (!isEventTime(share, part)) return [to, keyPartOf(share, part, fields[field] ?? null)];
        return [to, before === undefined ? keyPartOf(share, part, event.metadata.at) : before[to]];
      }),
    );
  const events = new Map(Object.values(kind.events).map((event) => [event.type, event]));
  return (before, event, after) => {
    const declared = events.get(event.type);
    const effect = declared === undefined ? undefined : share.on[declared.name];
    if (after.status !== 'present' || effect?.kind === 'ends') return null;
    const isGiven = effect?.kind === 'gives';
    const held = isGiven ? nothing : before;
    if (held === null) return null;
    const key = keyOf(after.fields, event, isGiven ? undefined : held);
    const result: Record<string, unknown> = { ...held, id: after.fields.id, ...key };
    const said = (name: string, source: ShareSource): unknown => {
      const { from, isNegative } = source;
      if (typeof from === 'number' || from === 'now') return from === 'now' ? event.metadata.at : from;
      const key = wire(from.field, kind.fields[from.field]);
      // A carried value is the recorded one. An optional field was given only if the event contains it.
      const isSaid = isGiven || !declared?.content.includes(from.field) || key in event.data;
      const value = declared?.carries.includes(from.field) ? event.data[key] : after.fields[from.field];
      if (!isSaid) return undefined;
      const known = view.values[name];
      if (isOfOneShare(known)) return value ?? null;
      return shareNumber(value ?? null, known?.kind === 'avg', isNegative);
    };
    for (const [name, source] of Object.entries(effect?.sets ?? {})) {
      const [to, value] = [column(name, view.values[name]?.def), said(name, source)];
      if (value === undefined) continue;
      result[to] = value;
      if (view.values[name]?.kind === 'latest') result[positionOf(to)] = event.position;
    }
    for (const [name, source] of Object.entries(effect?.adds ?? {})) {
      const to = column(name, view.values[name]?.def);
      result[to] = Number(result[to]) + Number(said(name, source));
    }
    return result;
  };
};
