import { targetOf } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Domain, EventInfo, Kind, ShareEffect, ShareInfo, ViewInfo } from '../registry/registry.ts';
import { isOfOneShare } from '../registry/view-of.ts';
import { isEventTime, readerOf } from '../rows/shares.ts';

export const PERSONAL =
  'is personal, but views cannot contain personal data, because it would survive the erasure of the person: use the reference to the person instead.';

export const demandShare = ({ kinds }: Domain, view: ViewInfo, share: ShareInfo): void => {
  const kind = kinds[share.kind];
  if (kind === undefined)
    throw new StartRefused(
      `${view.name}: it is built from ${share.kind}, which is not in the domain: add it to the domain.`,
    );
  const place = `${view.name}: from ${kind.name}`;
  for (const part of Object.keys(view.key))
    if (share.periods?.[part] === undefined) demandBy(place, view, { part, kind, field: share.by[part] });
    else demandPeriod(place, view, { part, kind, share });
  const effects = Object.entries(share.on);
  if (!effects.some(([, effect]) => effect.kind === 'gives'))
    throw new StartRefused(
      `${place}, no event gives a share, so nothing is ever counted: declare \`gives\`.`,
    );
  for (const [name, effect] of effects) {
    const event = kind.events[name];
    if (event === undefined)
      throw new StartRefused(
        `${place}, ${name} is not an event of ${kind.name}: use one of ${Object.keys(kind.events).join(', ')}.`,
      );
    demandEffect(`${place}, the event ${name}`, { view, kind, share }, event, effect);
  }
};

const demandBy = (
  place: string,
  { key }: ViewInfo,
  { part, kind, field }: { readonly part: string; readonly kind: Kind; readonly field: string | undefined },
): void => {
  const def = field === undefined ? undefined : kind.fields[field];
  const target = key[part];
  if (target?.period !== undefined)
    throw new StartRefused(
      `${place}, ${part} is a ${target.period}: use ${target.period}Of('…') of a date or an instant, or of 'now'.`,
    );
  const isItself = field === 'id' && target?.kind === 'ref' && targetOf(target) === kind.name;
  const isLike =
    def !== undefined &&
    (target?.kind === 'ref'
      ? def.kind === 'ref' && targetOf(def) === targetOf(target)
      : isSameKind(def, target));
  if (!isItself && !isLike)
    throw new StartRefused(
      `${place}, ${part} ${field ? `comes from ${field}, which is not a field of its type` : 'has no field in `by`'}: use a field of its type${target?.kind === 'ref' ? `, or 'id'` : ''}.`,
    );
  demandUsable(place, { part, kind, field });
};

const demandPeriod = (
  place: string,
  { key }: ViewInfo,
  { part, kind, share }: { readonly part: string; readonly kind: Kind; readonly share: ShareInfo },
): void => {
  const [period, field] = [share.periods?.[part] ?? 'day', share.by[part] ?? ''];
  const target = key[part];
  if (period === 'day' ? target?.kind !== 'date' : target?.period !== period)
    throw new StartRefused(
      `${place}, ${part} comes from ${period}Of, but is not a ${period}: declare it as ${period === 'day' ? 'date' : period}().`,
    );
  if (isEventTime(share, part)) return;
  const type = kind.fields[field]?.kind;
  if (type !== 'date' && type !== 'instant')
    throw new StartRefused(
      `${place}, ${part} comes from ${field}, which is no date or instant of ${kind.name}: use one of them, or 'now'.`,
    );
  demandUsable(place, { part, kind, field });
};

const demandUsable = (
  place: string,
  {
    part,
    kind,
    field = '',
  }: { readonly part: string; readonly kind: Kind; readonly field: string | undefined },
): void => {
  if (kind.fields[field]?.personal !== undefined) throw new StartRefused(`${place}, ${field} ${PERSONAL}`);
  if (kind.derived.some(({ name }) => name === field))
    throw new StartRefused(
      `${place}, ${part} comes from ${field}, which is derived from items and not in any event: use another field.`,
    );
};

/** A state is stored like a choice. */
const isSameKind = (one: FieldDef, other: FieldDef | undefined): boolean =>
  one.column === other?.column && (one.kind === 'ref') === (other.kind === 'ref') && one.kind !== 'set';

type DeclaredShare = { readonly view: ViewInfo; readonly kind: Kind; readonly share: ShareInfo };

const demandEffect = (
  place: string,
  { view, kind, share }: DeclaredShare,
  event: EventInfo,
  effect: ShareEffect,
): void => {
  if (event.effect === 'ends')
    throw new StartRefused(
      `${place} ends the ${kind.name}, which already ends its share: remove it from the view.`,
    );
  if (effect.kind === 'changes' && Object.keys(effect.sets).length + Object.keys(effect.adds).length === 0)
    throw new StartRefused(
      `${place} does not change a share: remove it, or declare what it \`gives\`, \`changes\` or \`adds\`.`,
    );
  if (effect.kind === 'gives')
    for (const [part, field] of Object.entries(share.by))
      if (!isEventTime(share, part) && !isSure(kind, event, field))
        throw new StartRefused(
          `${place} gives a share, but does not contain ${field}, from which ${part} comes: add it with \`carries: ['${field}']\`.`,
        );
  for (const [value, source] of [...Object.entries(effect.sets), ...Object.entries(effect.adds)]) {
    const { from } = source;
    const known = view.values[value];
    if (known === undefined)
      throw new StartRefused(
        `${place} sets ${value}, which is not a value of the view: use one of ${Object.keys(view.values).join(', ')}.`,
      );
    if (value in effect.sets && value in effect.adds)
      throw new StartRefused(`${place} both changes ${value} and adds to it: declare one of them.`);
    if (value in effect.adds && known.kind !== 'count' && known.kind !== 'sum')
      throw new StartRefused(
        `${place} adds to ${value}, which is no count() or sum(): use \`changes\` to set it.`,
      );
    if (known.kind === 'count' && !Number.isSafeInteger(from))
      throw new StartRefused(
        `${place} sets ${value}, which is a count(), to a value that is not a whole number: use a whole number, or make it a sum().`,
      );
    if (
      typeof from === 'number' ? !Number.isSafeInteger(from) : from === 'now' && known.def.kind !== 'instant'
    )
      throw new StartRefused(
        `${place} sets ${value} to ${String(from)}: use a whole number${isOfOneShare(known) ? ' or an instant' : ''}.`,
      );
    if (typeof from === 'object')
      demandField(
        `${place} takes ${value} from ${from.field}`,
        { kind, event, effect },
        { name: from.field, known: known.def, isNumber: known.kind === 'sum' || known.kind === 'avg' },
      );
  }
};

const demandField = (
  place: string,
  { kind, event, effect }: { readonly kind: Kind; readonly event: EventInfo; readonly effect: ShareEffect },
  { name, known, isNumber }: { readonly name: string; readonly known: FieldDef; readonly isNumber: boolean },
): void => {
  const def = kind.fields[name];
  if (def?.personal !== undefined) throw new StartRefused(`${place}, which ${PERSONAL}`);
  if (def === undefined || (isNumber ? def.kind !== 'integer' : !isSameKind(def, known)))
    throw new StartRefused(
      `${place}, which is not ${isNumber ? 'a number' : 'a field of its type'} in ${kind.name}: use another field.`,
    );
  const isHeld =
    effect.kind === 'gives' ? isSure(kind, event, name) : readerOf(kind, event, name) !== undefined;
  if (!isHeld)
    throw new StartRefused(
      `${place}, which it does not always contain: add it with \`carries: ['${name}']\`.`,
    );
};

/** An event that changes several fields contains only those that changed. */
const isSure = (kind: Kind, event: EventInfo, field: string): boolean =>
  readerOf(kind, event, field) !== undefined &&
  (event.effect !== 'changes' ||
    event.content.length === 1 ||
    !event.content.includes(field) ||
    event.carries.includes(field) ||
    kind.identity.includes(field));
