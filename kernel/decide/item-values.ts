import { wire } from '../base/names.ts';
import { Rejection } from '../base/rejection.ts';
import type { EventInfo, ListInfo, Row } from '../registry/registry.ts';
import { areEqual } from './are-equal.ts';

/** The caller and the time of a command, and the values of its decision: what events of items may set. */
export type Sender = { readonly callerId: number | null; readonly at: string; readonly computed: Row };

/** The fields of an item that an event has from the form, and those that it sets without it. */
type ItemValues = {
  /** The names in the state and in the form. */
  readonly content: readonly (readonly [name: string, from: string])[];
  /** In the data of the event. */
  valuesBy(sender: Sender): Row;
  /** True if the event sets a field to another value than the item has. */
  differs(item: Row, sender: Sender): boolean;
  /** True if the event sets a field to another value than the item has, or only the caller and the time. */
  changes(item: Row, sender: Sender): boolean;
  /** The values of a new item that neither the form nor the event gives. */
  readonly initial: Row;
};

export const itemValuesOf = (list: ListInfo, { type, item }: EventInfo): ItemValues => {
  const pairOf = (name: string) => [name, wire(name, list.fields[name])] as const;
  const content = (item?.content ?? []).map(pairOf);
  const computes = (item?.computes ?? []).map(pairOf);
  const set = Object.entries(item?.sets ?? {}).map(([name, value]) => [...pairOf(name), value] as const);
  const [constants, sent] = [
    set.filter(([, , value]) => !isSent(value)),
    set.filter(([, , value]) => isSent(value)),
  ];
  const needsCaller = sent.some(([name, , value]) => value === 'caller' && !list.fields[name]?.optional);
  const differs: ItemValues['differs'] = (of, { computed }) =>
    constants.some(([name, , value]) => !areEqual(value, of[name])) ||
    computes.some(([name]) => !areEqual(computed[name], of[name]));
  return {
    content,
    differs,
    valuesBy({ callerId, at, computed }) {
      // Code that reacts to events has no caller.
      if (callerId === null && needsCaller) throw new Rejection('unauthenticated');
      return Object.fromEntries([
        ...constants.map(([, to, value]) => [to, value]),
        ...sent.map(([, to, value]) => [to, value === 'now' ? at : callerId]),
        ...computes.map(([name, to]) => {
          if (computed[name] === undefined) throw new Error(`the decision on ${type} lacks ${name}`);
          return [to, computed[name]];
        }),
      ]);
    },
    changes: (of, sender) =>
      differs(of, sender) || (content.length + constants.length + computes.length === 0 && sent.length > 0),
    initial: Object.fromEntries(
      Object.entries(list.fields).map(([name, def]) => [wire(name, def), def.initial ?? null]),
    ),
  };
};

const isSent = (value: unknown): boolean => value === 'now' || value === 'caller';
