import { column } from '#kernel/base/names.ts';
import type { Domain, ShareInfo, ViewInfo } from '#kernel/registry/registry.ts';
import { noteOf } from '#shared/read-log/noted.ts';

/** How reads of the rows of a view are noted, as reads of the aggregates whose values they have. */
type ViewNote = {
  /** The column with the id of an aggregate, if each row is of one. */
  readonly idColumn: string | undefined;
  note(id: number | undefined): void;
};

/** Undefined if the reads of none of its aggregates are logged. */
export const noteOfView = ({ kinds }: Domain, view: ViewInfo): ViewNote | undefined => {
  const logged = view.shares.flatMap((share) => {
    const kind = kinds[share.kind];
    const note = kind && noteOf(kind);
    if (note === undefined) return [];
    const part = Object.entries(share.by).find(([, by]) => by === 'id')?.[0];
    return [{ note, fields: fieldsOf(share), part }];
  });
  const part = logged.find((each) => each.part !== undefined)?.part;
  const def = part === undefined ? undefined : view.key[part];
  if (logged.length === 0) return undefined;
  return {
    idColumn: part === undefined || def === undefined ? undefined : column(part, def),
    note(id) {
      for (const each of logged) each.note(each.part === part ? id : undefined, each.fields);
    },
  };
};

/** The fields of an aggregate whose values a view has: in its key, and in its values. */
const fieldsOf = ({ by, periods = {}, on }: ShareInfo): readonly string[] => {
  const effects = Object.values(on).flatMap(({ sets, adds }) => [
    ...Object.values(sets),
    ...Object.values(adds),
  ]);
  const sources = effects.flatMap(({ from }) => (typeof from === 'object' ? [from.field] : []));
  const keys = Object.values(by).filter((name) => name !== 'id' && name !== 'now' && name !== '');
  return [
    ...new Set([...sources, ...keys, ...Object.keys(periods).flatMap((part) => by[part] ?? [])]),
  ].filter((name) => name !== 'now');
};
