import type { Domain, Kind } from '#kernel/registry/registry.ts';
import type { Source } from '../../rows/source.ts';
import { rightsToField } from '../../rows/sources.ts';
import { connectionType, notedTypesOf } from '../rules/noted.ts';
import type { Piece } from './json.ts';
import type { Mapping, Row } from './mapping.ts';
import { type Options, presence } from './matching.ts';
import { allOf, literal, Sql, sql } from './sql.ts';

/** JSON text never contains this character, because control characters are escaped. */
const MARK = '\u0002';

/** A mark before the members of an object: its type, its id, and those of the selected fields that its reader sees. */
export const markOf = ({ domain, readable }: Options, type: string, source?: Source): Mapping['mark'] => {
  const noted = notedTypesOf(domain).get(type);
  if (noted === undefined) return undefined;
  const { idColumn, fields } = noted;
  const seenField = (name: string, row: Row): Piece => {
    if (source === undefined) return ` ${name}`;
    const rights = rightsToField(source, name).map((right) => readable.rightTo(right, row));
    return sql`case when ${allOf([...presence(source, row), ...rights])} then ${literal(` ${name}`)} else '' end`;
  };
  return (row, selected) => [
    `${MARK}${type} `,
    idColumn === undefined ? NO_ID : sql`${row}.${Sql.identifier(idColumn)}`,
    ...selected.flatMap((each): readonly Piece[] => {
      const field = fields.get(each);
      if (field === undefined) return [];
      return [field.isGuarded ? seenField(field.name, row) : ` ${field.name}`];
    }),
    MARK,
  ];
};

/** A mark before the number of objects of a kind. */
export const countMarkOf = (
  { domain }: Pick<Options, 'domain'>,
  kind: Pick<Kind, 'type'>,
): string | undefined =>
  notedTypesOf(domain).has(kind.type) ? `${MARK}${connectionType(kind)} ${NO_ID} count${MARK}` : undefined;

const NO_ID = '0';

/** Notes what the marks in an answer say, and removes them. */
export const takeMarks = (domain: Domain): ((data: string) => string) => {
  const types = notedTypesOf(domain);
  if (types.size === 0) return (data) => data;
  return (data) =>
    data.replaceAll(EACH, (_, type: string, id: string, fields: string) => {
      types
        .get(type)
        ?.note(id === NO_ID ? undefined : Number(id), fields === '' ? [] : fields.slice(1).split(' '));
      return '';
    });
};

const EACH = new RegExp(`${MARK}(\\w+) (\\d+)((?: \\w+)*)${MARK}`, 'g');
