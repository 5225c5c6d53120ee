import { useId } from 'preact/hooks';
import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';

type EventType = { readonly type: string; readonly description?: string };

const ALL = '*';
const kindInType = (type: string): string => type.split('.')[0] ?? '';

/** Adds or removes a type; all types of a kind replace its single types. */
export const toggled = (chosen: readonly string[], type: string): readonly string[] => {
  if (chosen.includes(type)) return chosen.filter((each) => each !== type);
  const kind = kindInType(type);
  return [
    ...chosen.filter((each) => !(type === `${kind}.*` && kindInType(each) === kind) && each !== ALL),
    type,
  ];
};

type EventTypesOptions = {
  readonly chosen: readonly string[];
  readonly change: (chosen: readonly string[]) => void;
};

/** Chooses the events to send: all, all of a kind, or single types. */
export const EventTypes = ({ chosen, change }: EventTypesOptions) => {
  const { body: types = [] } = useAsked<readonly EventType[]>('/event-types');
  const name = useId();
  const isAll = chosen.includes(ALL);
  const kinds = [...Map.groupBy(types, ({ type }) => kindInType(type))];
  return html`<fieldset>
    <legend>Event types</legend>
    <label class="choice"><input type="radio" name=${name} checked=${isAll} onChange=${() => change([ALL])} /><span>All events<small>including types that are added later</small></span></label>
    <label class="choice"><input type="radio" name=${name} checked=${!isAll} onChange=${() => isAll && change([])} /><span>These types</span></label>
    ${!isAll && kinds.map(([kind, ofKind]) => html`<${Kind} key=${kind} kind=${kind} types=${ofKind} chosen=${chosen} change=${change} />`)}
  </fieldset>`;
};

type KindOptions = EventTypesOptions & { readonly kind: string; readonly types: readonly EventType[] };

const Kind = ({ kind, types, chosen, change }: KindOptions) => {
  const whole = `${kind}.*`;
  const isWhole = chosen.includes(whole);
  const many = isWhole ? types.length : types.filter(({ type }) => chosen.includes(type)).length;
  const box = (type: string, label: string, says: string | undefined, isFixed = false) =>
    html`<label class="choice"><input type="checkbox" checked=${isFixed || chosen.includes(type)} disabled=${isFixed} onChange=${() => change(toggled(chosen, type))} /><span>${label}${says && html`<small>${says}</small>`}</span></label>`;
  return html`<details class="types" open=${many > 0}>
    <summary>${kind} <span class="soft">${many} of ${types.length}</span></summary>
    ${box(whole, `All of ${kind}`, undefined)}
    ${types.map(({ type, description }) => box(type, type, description, isWhole))}
  </details>`;
};
