import { capital, itemType, oneOf, spaced } from '#kernel/base/names.ts';
import { formTextOf, textOf } from '#kernel/declare/texts.ts';
import { mutatingCommands, mutationName } from '#kernel/registry/mutations.ts';
import type { CommandInfo } from '#kernel/registry/registry.ts';
import { sortsOfItems } from '../../rows/sorted-items.ts';
import type { ItemSource, Member } from '../../rows/source.ts';
import { additionInput, enumName, itemArgument, memberName, orderName } from '../rules/names.ts';
import {
  argumentsBeside,
  block,
  enumsOf,
  idLine,
  inputOf,
  type Line,
  PAGE,
  pagesOf,
  sentence,
  uploadFieldLines,
  valueType,
  withAbsence,
} from './sdl-lines.ts';

/** The items of the lists of an aggregate, in SDL. */

const typed = ({ kind, list }: ItemSource) => ({ type: itemType(kind, list), called: list.one });
const oneOfIt = ({ kind, list }: ItemSource): string => `${oneOf(list.one)} of ${oneOf(kind.field)}`;

export const itemTypesOf = (items: ItemSource): readonly string[] => {
  const { kind, list, members } = items;
  const { type } = typed(items);
  return [
    ...enumsOf(typed(items), members),
    block(sentence(capital(oneOfIt(items))), `type ${type}`, [
      ...(list.key === undefined
        ? [[`The id of the item, unique within its ${spaced(kind.field)}.`, `${list.id.name}: ID!`] as const]
        : []),
      ...members.flatMap((member) => [
        memberLine(items, member),
        ...(member.target ? [idLine(member, member.def.optional === true)] : []),
        ...uploadFieldLines(member),
      ]),
      ['When it was added.', 'createdAt: DateTime!'],
      ['When it was last changed.', 'updatedAt: DateTime!'],
      [`The ${spaced(kind.field)} that it belongs to.`, `${kind.field}: ${kind.type}!`],
    ]),
    ...filterOf(items),
    ...ordersOf(items),
    ...pagesOf(type),
    ...inputsOf(items),
  ];
};

const memberLine = (items: ItemSource, member: Member): Line => {
  const { name, def } = member;
  const isNullable =
    def.optional || (def.personal && def.personal.erased === undefined) || member.target !== undefined;
  const says = textOf(def) ?? sentence(spaced(name));
  return [
    member.target === undefined ? says : withAbsence(says),
    `${memberName(member)}: ${valueType(typed(items), member)}${isNullable ? '' : '!'}`,
  ];
};

const filterOf = (items: ItemSource): readonly string[] => {
  const { list, members, filters } = items;
  const { type } = typed(items);
  if (filters.length === 0) return [];
  const lines = filters.map(({ name, by, def }): Line => {
    const field = members.find((member) => member.def === def)?.name ?? name;
    const scalar = by === 'element' ? 'String' : (def?.graphql ?? 'String');
    return [
      `Only ${spaced(list.name)} with this ${spaced(name)}.`,
      `${name}: ${by === 'id' ? 'ID' : def?.values ? enumName({ type }, { name: field, def }) : scalar}`,
    ];
  });
  return [block('All conditions must hold.', `input ${type}Filter`, lines)];
};

const ordersOf = (items: ItemSource): readonly string[] => {
  const { list, sorts } = items;
  if (sorts.length === 0) return [];
  const lines = sortsOfItems(items).map((each): Line => {
    const first = each.descending ? 'latest' : 'earliest';
    return [
      `By \`${each.name}\`, only those that have it: the ${first} first.`,
      orderName(each, each.descending),
    ];
  });
  return [
    block(
      `Another order of the ${spaced(list.name)} than their own.`,
      `enum ${typed(items).type}Sort`,
      lines,
    ),
  ];
};

/** The fields of the aggregate that lead to its items. */
export const itemLines = ({ kind, list, filters, sorts }: ItemSource): readonly Line[] => {
  const type = itemType(kind, list);
  const asked = [
    ...(filters.length === 0 ? [] : [`, filter: ${type}Filter`]),
    ...(sorts.length === 0 ? [] : [`, sort: ${type}Sort`]),
  ].join('');
  return [
    [`The ${spaced(list.name)}, in their order.`, `${list.name}(limit: Int = 10${asked}): [${type}!]!`],
    [
      `The ${spaced(list.name)}, in their order, in pages.`,
      `${list.name}Connection(${PAGE}${asked}): ${type}Connection!`,
    ],
  ];
};

const inputsOf = (items: ItemSource): readonly string[] => {
  const { kind, list } = items;
  const { type } = typed(items);
  const linesOf = (command: CommandInfo, as: 'new' | 'changed'): readonly Line[] =>
    formOf(items, command).map((member) => [
      formTextOf(member.def) ?? sentence(spaced(member.name)),
      inputOf({ type }, member, as),
    ]);
  return mutatingCommands(kind).flatMap((command) => {
    if (command.list !== list || formOf(items, command).length === 0) return [];
    switch (command.kind) {
      case 'addItem':
        return [
          block(
            `A new ${spaced(list.one)}.`,
            `input ${additionInput(type, command)}`,
            linesOf(command, 'new'),
          ),
        ];
      case 'changeItem':
        return [
          block(
            'Absent fields stay; null removes a value.',
            `input ${type}Changes`,
            linesOf(command, 'changed'),
          ),
        ];
      default:
        return [];
    }
  });
};

/** The fields in the form of a command; an addition has the key, too. */
const formOf = ({ list, members }: ItemSource, { kind, itemForm }: CommandInfo): readonly Member[] =>
  members.filter(({ name }) => itemForm.includes(name) || (kind === 'addItem' && name === list.key));

export const itemMutationLine = (items: ItemSource, command: CommandInfo): Line => {
  const { kind } = items;
  const beside = argumentsBeside(kind, command);
  const { type } = typed(items);
  const idType = idTypeOf(items);
  const says = (verb: string): string => sentence(command.says ?? `${verb} ${oneOfIt(items)}`);
  const name = mutationName(kind, command);
  const one = oneArgument(items);
  switch (command.kind) {
    case 'addItem': {
      const input = formOf(items, command).length === 0 ? '' : `, input: ${additionInput(type, command)}!`;
      return [says('Add'), `${name}(id: ID!${input}, ifVersion: Int${beside}): ${type}!`];
    }
    case 'changeItem':
      return [says('Change'), `${name}(${one}, changes: ${type}Changes!, ifVersion: Int${beside}): ${type}!`];
    case 'moveItem':
      return [
        `${says('Move')} It moves before the named one, or to the end.`,
        `${name}(${one}, before: ${idType}, ifVersion: Int${beside}): ${type}!`,
      ];
    case 'actOnItem': {
      const flat = formOf(items, command).map((member) => `, ${inputOf({ type }, member, 'whole')}`);
      return [
        says(capital(spaced(command.verb ?? ''))),
        `${name}(${one}${flat.join('')}, ifVersion: Int${beside}): ${type}!`,
      ];
    }
    default:
      return [says('Remove'), `${name}(${one}, ifVersion: Int${beside}): ${kind.type}!`];
  }
};

const idTypeOf = (items: ItemSource): string => {
  const [first] = items.members;
  return items.list.key === undefined || !first || first.target ? 'ID' : valueType(typed(items), first);
};

/** The arguments that identify one item. */
export const oneArgument = (items: ItemSource): string =>
  `id: ID!, ${itemArgument(items)}: ${idTypeOf(items)}!`;
