import { targetOf } from '../base/names.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Domain, EventInfo, Kind, ShareEffect, ShareInfo, ViewInfo } from '../registry/registry.ts';
import { isOfOneShare } from '../registry/view-of.ts';
import { isEventTime, readerOf } from '../rows/shares.ts';
import type { Sentences } from './refusals.ts';

export const PERSONAL =
  'is personal, but views cannot contain personal data, because it would survive the erasure of the person: use the reference to the person instead.';

export function* demandShare({ kinds }: Domain, view: ViewInfo, share: ShareInfo): Sentences {
  const kind = kinds[share.kind];
  if (kind === undefined)
    return yield `${view.name}: it is built from ${share.kind}, which is not in the domain: add it to the domain.`;
  const place = `${view.name}: from ${kind.name}`;
  for (const part of Object.keys(view.key))
    if (share.periods?.[part] === undefined)
      yield* demandBy(place, view, { part, kind, field: share.by[part] });
    else yield* demandPeriod(place, { part, kind, share });
  const effects = Object.entries(share.on);
  if (!effects.some(([, effect]) => effect.kind === 'gives'))
    yield `${place}, no event gives a share, so nothing is ever counted: declare \`gives\`.`;
  for (const [name, effect] of effects) {
    const event = kind.events[name];
    if (event === undefined)
      return yield `${place}, ${name} is not an event of ${kind.name}: use one of ${Object.keys(kind.events).join(', ')}.`;
    yield* demandEffect(`${place}, the event ${name}`, { view, kind, share }, event, effect);
  }
}

function* demandBy(
  place: string,
  { key }: ViewInfo,
  { part, kind, field }: { readonly part: string; readonly kind: Kind; readonly field: string | undefined },
): Sentences {
  const def = field === undefined ? undefined : kind.fields[field];
  const target = key[part];
  const isItself = field === 'id' && target?.kind === 'ref' && targetOf(target) === kind.name;
  const isLike =
    def !== undefined &&
    (target?.kind === 'ref'
      ? def.kind === 'ref' && targetOf(def) === targetOf(target)
      : isSameKind(def, target));
  if (!isItself && !isLike)
    yield `${place}, ${part} ${field ? `comes from ${field}, which is not a field of its type` : 'has no field in `by`'}: use a field of its type${target?.kind === 'ref' ? `, or 'id'` : ''}.`;
  yield* demandUsable(place, { part, kind, field });
}

function* demandPeriod(
  place: string,
  { part, kind, share }: { readonly part: string; readonly kind: Kind; readonly share: ShareInfo },
): Sentences {
  const field = share.by[part] ?? '';
  if (isEventTime(share, part)) return;
  const type = kind.fields[field]?.kind;
  if (type !== 'date' && type !== 'instant')
    yield `${place}, ${part} ${field ? `comes from ${field}, which is no date or instant of ${kind.name}` : 'has no field in `by`'}: use one of its dates or instants, or 'now'.`;
  yield* demandUsable(place, { part, kind, field });
}

function* demandUsable(
  place: string,
  {
    part,
    kind,
    field = '',
  }: { readonly part: string; readonly kind: Kind; readonly field: string | undefined },
): Sentences {
  if (kind.fields[field]?.personal !== undefined) yield `${place}, ${field} ${PERSONAL}`;
  if (kind.derived.some(({ name }) => name === field))
    yield `${place}, ${part} comes from ${field}, which is derived from items and not in any event: use another field.`;
}

/** A state is stored like a choice. */
const isSameKind = (one: FieldDef, other: FieldDef | undefined): boolean =>
  one.column === other?.column && (one.kind === 'ref') === (other.kind === 'ref') && one.kind !== 'set';

type DeclaredShare = { readonly view: ViewInfo; readonly kind: Kind; readonly share: ShareInfo };

function* demandEffect(
  place: string,
  { view, kind, share }: DeclaredShare,
  event: EventInfo,
  effect: ShareEffect,
): Sentences {
  if (event.effect === 'ends')
    yield `${place} ends the ${kind.name}, which already ends its share: remove it from the view.`;
  if (effect.kind === 'changes' && Object.keys(effect.sets).length + Object.keys(effect.adds).length === 0)
    yield `${place} does not change a share: remove it, or declare what it \`gives\`, \`changes\` or \`adds\`.`;
  if (effect.kind === 'gives')
    for (const [part, field] of Object.entries(share.by))
      if (!isEventTime(share, part) && !isSure(kind, event, field))
        yield `${place} gives a share, but does not contain ${field}, from which ${part} comes: add it with \`carries: ['${field}']\`.`;
  for (const [value, source] of [...Object.entries(effect.sets), ...Object.entries(effect.adds)]) {
    const { from } = source;
    const known = view.values[value];
    if (known === undefined)
      return yield `${place} sets ${value}, which is not a value of the view: use one of ${Object.keys(view.values).join(', ')}.`;
    if (value in effect.sets && value in effect.adds)
      yield `${place} both changes ${value} and adds to it: declare one of them.`;
    if (value in effect.adds && known.kind !== 'sum')
      yield `${place} adds to ${value}, which is no sum(): use \`changes\` to set it.`;
    if (
      typeof from === 'number' ? !Number.isSafeInteger(from) : from === 'now' && known.def.kind !== 'instant'
    )
      yield `${place} sets ${value} to ${String(from)}: use a whole number${isOfOneShare(known) ? ' or an instant' : ''}.`;
    if (typeof from === 'object')
      yield* demandField(
        `${place} takes ${value} from ${from.field}`,
        { kind, event, effect },
        { name: from.field, known: known.def, isNumber: known.kind === 'sum' || known.kind === 'avg' },
      );
  }
}

function* demandField(
  place: string,
  { kind, event, effect }: { readonly kind: Kind; readonly event: EventInfo; readonly effect: ShareEffect },
  { name, known, isNumber }: { readonly name: string; readonly known: FieldDef; readonly isNumber: boolean },
): Sentences {
  const def = kind.fields[name];
  if (def?.personal !== undefined) yield `${place}, which ${PERSONAL}`;
  if (def === undefined || (isNumber ? def.kind !== 'integer' : !isSameKind(def, known)))
    yield `${place}, which is not ${isNumber ? 'a number' : 'a field of its type'} in ${kind.name}: use another field.`;
  const isHeld =
    effect.kind === 'gives' ? isSure(kind, event, name) : readerOf(kind, event, name) !== undefined;
  if (!isHeld) yield `${place}, which it does not always contain: add it with \`carries: ['${name}']\`.`;
}

/** An event that changes several fields contains only those that changed. */
const isSure = (kind: Kind, event: EventInfo, field: string): boolean =>
  readerOf(kind, event, field) !== undefined &&
  (event.effect !== 'changes' ||
    event.content.length === 1 ||
    !event.content.includes(field) ||
    event.carries.includes(field) ||
    kind.identity.includes(field));
