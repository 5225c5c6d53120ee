import { column, wire } from '../base/names.ts';
import type { Kind, Row, ShareInfo, ShareSource, ViewInfo } from '../registry/registry.ts';
import { type Positioned, positionOf, shareTableOf } from '../rows/shares.ts';
import type { AggregateState } from './state.ts';

/** The columns of the share, without the version. */
export type Share = Row;

/**
 * The contribution of an aggregate to a view after an event. Computed from the state, not from the values
 * that the projection copies from events, so that the two can be compared.
 */
export type FoldShare = (before: Share | null, event: Positioned, after: AggregateState) => Share | null;

export const shareFoldOf = (kind: Kind, view: ViewInfo, share: ShareInfo): FoldShare => {
  const { numbers, latest } = shareTableOf(view, share);
  const nothing: Share = {
    ...Object.fromEntries(numbers.map((each) => [each, 0])),
    ...Object.fromEntries(
      latest.flatMap((each) => [
        [each, null],
        [positionOf(each), null],
      ]),
    ),
  };
  const keyOf = (fields: Row): Row =>
    Object.fromEntries(
      Object.entries(share.by).map(([part, field]) => [column(part, view.key[part]), fields[field] ?? null]),
    );
  const events = new Map(Object.values(kind.events).map((event) => [event.type, event]));
  return (before, event, after) => {
    const declared = events.get(event.type);
    const effect = declared === undefined ? undefined : share.on[declared.name];
    if (after.status !== 'present' || effect?.kind === 'ends') return null;
    const held = effect?.kind === 'gives' ? nothing : before;
    if (held === null) return null;
    const result: Record<string, unknown> = { ...held, id: after.fields.id, ...keyOf(after.fields) };
    const said = (name: string, source: ShareSource): unknown => {
      const { from, isNegative } = source;
      if (typeof from === 'number' || from === 'now') return from === 'now' ? event.metadata.at : from;
      const key = wire(from.field, kind.fields[from.field]);
      // A carried value is the recorded one. An optional field was given only if the event contains it.
      const isSaid = effect?.kind === 'gives' || !declared?.content.includes(from.field) || key in event.data;
      const value = declared?.carries.includes(from.field) ? event.data[key] : after.fields[from.field];
      if (!isSaid) return undefined;
      return view.values[name]?.kind === 'latest'
        ? (value ?? null)
        : isNegative
          ? -Number(value)
          : Number(value);
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
