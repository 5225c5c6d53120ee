import { spaced } from '#kernel/base/names.ts';
import { textOf } from '#kernel/declare/texts.ts';
import type { ViewSource } from '../../views/source.ts';
import { memberName, orderName, viewChangedName } from '../rules/names.ts';
import { block, enumsOf, idLine, type Line, PAGE, pagesOf, sentence, valueType } from './sdl-lines.ts';

/** A view, in SDL: its rows, and pages of them. */
export const viewTypesOf = (source: ViewSource): readonly string[] => {
  const { view, members, sorts } = source;
  const { type, name } = view;
  return [
    ...enumsOf({ type, called: name }, members),
    block(
      `The order of ${spaced(name)}.`,
      `enum ${type}Sort`,
      [...sorts.keys()].flatMap((sort) =>
        [false, true].map((descending): Line => {
          const only = sorts.get(sort)?.isOptional ? ', without rows that lack it' : '';
          return [
            `By \`${sort}\`${only}: the ${descending ? 'highest' : 'lowest'} first.`,
            orderName({ name: sort }, descending),
          ];
        }),
      ),
    ),
    block(
      'All conditions must hold.',
      `input ${type}Filter`,
      keysOf(source).map((member) => [
        `Only rows with this ${spaced(member.name)}.`,
        `${memberName(member)}: ${argumentType(source, member)}`,
      ]),
    ),
    block(
      view.says ?? sentence(spaced(name)),
      `type ${type}`,
      members.flatMap((member): readonly Line[] => {
        const isNullable = member.def.optional || member.target !== undefined;
        return [
          [
            textOf(member.def) ?? sentence(spaced(member.name)),
            `${memberName(member)}: ${valueType({ type }, member)}${isNullable ? '' : '!'}`,
          ],
          ...(member.target ? [idLine(member, member.def.optional === true)] : []),
        ];
      }),
    ),
    ...pagesOf(type),
    block(
      'The key of a row.',
      `type ${type}Key`,
      keysOf(source).map((member) => [
        sentence(spaced(member.name)),
        `${memberName(member)}: ${argumentType(source, member)}!`,
      ]),
    ),
    block(`A message to subscribers of ${spaced(name)}.`, `type ${type}Change`, [
      ['The cursor of the message: send it as `after` to continue after it.', 'cursor: Cursor!'],
      ['The kind of the message.', 'type: ChangeOfRow!'],
      ['The key of the row; null if the message is about all rows.', `key: ${type}Key`],
      ['The current row; null if it was removed.', `row: ${type}`],
    ]),
  ];
};

/** Only if the domain has views. */
export const CHANGE_OF_ROW = block('The kind of a message to subscribers of a view.', 'enum ChangeOfRow', [
  ['Discard all rows: the following messages have all rows that you may read.', 'RESET'],
  ['The row is new or has changed.', 'CHANGED'],
  ['The row was removed.', 'REMOVED'],
]);

export const viewSubscriptionOf = (source: ViewSource): Line => {
  const { view } = source;
  const key = keysOf(source).map((member) => `${memberName(member)}: ${argumentType(source, member)}, `);
  return [
    `The rows of ${spaced(view.name)} that you may read: all of them, then each change. With \`after\`, the changes since that cursor.`,
    `${viewChangedName(view)}(${key.join('')}after: Cursor): ${view.type}Change!`,
  ];
};

const keysOf = ({ keys, members }: ViewSource): ViewSource['members'] => members.slice(0, keys.length);

const argumentType = ({ view }: ViewSource, member: ViewSource['members'][number]): string =>
  member.target ? 'ID' : valueType({ type: view.type }, member);

export const viewQueriesOf = (source: ViewSource): readonly Line[] => {
  const { view, sorts } = source;
  const { name, type } = view;
  const key = keysOf(source).map((member) => `${memberName(member)}: ${argumentType(source, member)}!`);
  const first = orderName({ name: [...sorts.keys()][0] ?? '' }, false);
  return [
    [
      'The row with this key; null if there is none that you may read.',
      `${name}(${key.join(', ')}): ${type}`,
    ],
    [
      `The ${spaced(name)} that you may read, in pages.`,
      `${name}Connection(${PAGE}, filter: ${type}Filter, sort: ${type}Sort = ${first}): ${type}Connection!`,
    ],
  ];
};
