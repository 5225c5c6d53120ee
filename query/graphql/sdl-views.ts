import { textOf } from '#kernel/declare/texts.ts';
import { spaced } from '#kernel/registry/names.ts';
import type { ViewSource } from '../views/source.ts';
import { memberName, orderName, viewChangedName } from './names.ts';
import { block, enumsOf, type Line, PAGE, pagesOf, sentence, valueType } from './sdl-lines.ts';

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
          const only = sorts.get(sort)?.isOptional ? ', and only what has it' : '';
          return [
            `By \`${sort}\`${only}: the ${descending ? 'highest' : 'lowest'} first.`,
            orderName({ name: sort }, descending),
          ];
        }),
      ),
    ),
    block(
      'All of what is given must hold.',
      `input ${type}Filter`,
      keysOf(source).map((member) => [
        `Only what has this ${spaced(member.name)}.`,
        `${memberName(member)}: ${argumentType(source, member)}`,
      ]),
    ),
    block(
      view.says ?? sentence(spaced(name)),
      `type ${type}`,
      members.map((member) => {
        const isNullable = member.def.optional || member.target !== undefined;
        return [
          textOf(member.def) ?? sentence(spaced(member.name)),
          `${memberName(member)}: ${valueType({ type }, member)}${isNullable ? '' : '!'}`,
        ];
      }),
    ),
    ...pagesOf(type),
    block(
      'What tells a row apart.',
      `type ${type}Key`,
      keysOf(source).map((member) => [
        sentence(spaced(member.name)),
        `${memberName(member)}: ${argumentType(source, member)}!`,
      ]),
    ),
    block(`Something that is told to whoever follows ${spaced(name)}.`, `type ${type}Change`, [
      ['Where to go on: as `after` it leads to what changes next.', 'cursor: Cursor!'],
      ['What it says.', 'type: ChangeOfRow!'],
      ['Which row it is about; null where it is about all.', `key: ${type}Key`],
      ['The row as it is now; null where it is gone.', `row: ${type}`],
    ]),
  ];
};

/** Only if the domain has views. */
export const CHANGE_OF_ROW = block('What is told of the rows of a view.', 'enum ChangeOfRow', [
  ['Forget all that you have: what follows is all that there is.', 'RESET'],
  ['The row is new, or another than before.', 'CHANGED'],
  ['There is no such row any more.', 'REMOVED'],
]);

export const viewSubscriptionOf = (source: ViewSource): Line => {
  const { view } = source;
  const key = keysOf(source).map((member) => `${memberName(member)}: ${argumentType(source, member)}, `);
  return [
    `The rows of ${spaced(view.name)} that you may read: all of them, and then each that changes; after a cursor, what has changed since.`,
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
      'What there is under a key; null where there is nothing that you may read.',
      `${name}(${key.join(', ')}): ${type}`,
    ],
    [
      `The ${spaced(name)} that you may read, in pages.`,
      `${name}Connection(${PAGE}, filter: ${type}Filter, sort: ${type}Sort = ${first}): ${type}Connection!`,
    ],
  ];
};
