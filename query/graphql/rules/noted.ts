import { oncePer } from '#kernel/base/once-per.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { type Note, noteOf } from '#shared/read-log/noted.ts';
import type { Source } from '../../rows/source.ts';
import { rightsToField, sourcesOf } from '../../rows/sources.ts';
import { noteOfView } from '../../views/notes.ts';
import { type ViewSource, viewSourcesOf } from '../../views/source.ts';
import { idArgument, memberName } from './names.ts';

/** A type that shows aggregates whose reads are logged. */
export type NotedType = {
  readonly note: Note;
  /** The column of its rows with the id of the aggregate, if each is of one. */
  readonly idColumn: string | undefined;
  /** Objects of an edge have their row as the node. */
  readonly isEdge?: true;
  /** By the names of GraphQL: as the field is declared, and whether some readers of the aggregate get null. */
  readonly fields: ReadonlyMap<string, { readonly name: string; readonly isGuarded: boolean }>;
};

/** By the names of types. Empty if no reads are logged. */
export const notedTypesOf = oncePer(
  (domain: Domain): ReadonlyMap<string, NotedType> =>
    new Map<string, NotedType>([
      ...sourcesOf(domain).all.flatMap((source) => {
        const note = noteOf(source.kind);
        return note === undefined
          ? []
          : [
              [source.kind.type, { note, idColumn: 'id', fields: fieldsOf(source) }] as const,
              ...aroundOf(source.kind, note, 'id'),
            ];
      }),
      ...viewSourcesOf(domain).flatMap((source) => {
        const noted = noteOfView(domain, source.view);
        if (noted === undefined) return [];
        const { idColumn, note } = noted;
        return [
          [source.view.type, { note, idColumn, fields: fieldsOfView(source) }] as const,
          ...aroundOf(source.view, note, idColumn),
        ];
      }),
    ]),
);

/** The types of its pages: a number of items, or whether there are any, shows none of them, but a cursor has an id. */
const aroundOf = (
  of: Pick<Kind, 'type'>,
  note: Note,
  idColumn: string | undefined,
): readonly (readonly [string, NotedType])[] => [
  [connectionType(of), { note, idColumn: undefined, fields: COUNTED }],
  [`${of.type}Edge`, { note, idColumn, isEdge: true, fields: CURSOR }],
];

const COUNTED: NotedType['fields'] = new Map(
  ['totalCount', 'pageInfo'].map((each) => [each, { name: 'count', isGuarded: false }] as const),
);
const CURSOR: NotedType['fields'] = new Map([['cursor', { name: 'id', isGuarded: false }]]);

export const connectionType = ({ type }: Pick<Kind, 'type'>): string => `${type}Connection`;

const fieldsOf = (source: Source): NotedType['fields'] => {
  const own = source.members.flatMap((member) => {
    const names = member.target ? [memberName(member), idArgument(member)] : [member.name];
    return names.map((each) => [each, member.name] as const);
  });
  const lists = source.items.flatMap(({ list: { name } }) =>
    [name, `${name}Connection`].map((each) => [each, name] as const),
  );
  const common = ['id', 'version', 'createdAt', 'updatedAt'].map((name) => [name, name] as const);
  return new Map(
    [...common, ...own, ...lists].map(([each, name]) => [
      each,
      { name, isGuarded: rightsToField(source, name).length > 0 },
    ]),
  );
};

const fieldsOfView = ({ members }: ViewSource): NotedType['fields'] =>
  new Map(
    members.flatMap((member) =>
      [memberName(member), idArgument(member), member.name].map(
        (each) => [each, { name: member.name, isGuarded: false }] as const,
      ),
    ),
  );
