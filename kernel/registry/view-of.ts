import { integer } from '../declare/fields.ts';
import type { AnyShare, AnyView } from '../declare/view.ts';
import { capital, kebab, snake } from './names.ts';
import type { ShareEffect, ShareInfo, ShareSource, ViewInfo, ViewValue } from './registry.ts';

/** What follows from the declaration of one view. */
export const viewOf = ({ view: name, says, key, values, from, rights }: AnyView): ViewInfo => ({
  name,
  table: snake(name),
  path: kebab(name),
  type: capital(name),
  says,
  key: Object.fromEntries(Object.entries(key).map(([part, { def }]) => [part, def])),
  values: Object.fromEntries(Object.entries(values).map(([value, spec]) => [value, viewValueOf(spec)])),
  shares: Object.entries(from).map(([kind, { by, on }]) =>
    shareOf(name, kind, Object.fromEntries(Object.keys(key).map((part) => [part, by[part] ?? ''])), on),
  ),
  rights,
});

const NUMBER = integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER).def;

const viewValueOf = (spec: AnyView['values'][string]): ViewValue => {
  const says = spec.text === undefined ? {} : { says: spec.text };
  switch (spec.value) {
    case 'count':
      return { kind: 'count', def: { ...NUMBER, ...says } };
    // Sums are beyond what whole numbers of GraphQL can be.
    case 'sum':
      return { kind: 'sum', def: { ...NUMBER, graphql: 'Float', ...says } };
    case 'latest':
      return { kind: 'latest', def: { ...spec.field.def, ...says, optional: true } };
  }
};

const shareOf = (view: string, kind: string, by: ShareInfo['by'], on: Readonly<Record<string, AnyShare>>): ShareInfo => ({
  kind,
  table: `${snake(view)}_of_${snake(kind)}`,
  by,
  on: Object.fromEntries(Object.entries(on).map(([event, spec]) => [event, effectOf(spec)])),
  values: [
    ...new Set(Object.values(on).flatMap(({ gives, changes, adds }) => [gives, changes, adds].flatMap((each) => Object.keys(each ?? {})))),
  ],
});

const effectOf = ({ gives, changes, adds, ends }: AnyShare): ShareEffect => ({
  kind: ends ? 'ends' : gives ? 'gives' : 'changes',
  sets: sourcesOf(gives ?? changes ?? {}),
  adds: sourcesOf(adds ?? {}),
});

const sourcesOf = (parts: Readonly<Record<string, number | string>>): Readonly<Record<string, ShareSource>> =>
  Object.fromEntries(Object.entries(parts).map(([value, part]) => [value, sourceOf(part)]));

const sourceOf = (part: number | string): ShareSource => {
  if (typeof part === 'number' || part === 'now') return { from: part, isNegative: false };
  const isNegative = part.startsWith('-');
  return { from: { field: isNegative ? part.slice(1) : part }, isNegative };
};
