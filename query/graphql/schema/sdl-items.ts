import { capital, itemType, oneOf, spaced } from '#kernel/base/names.ts';
import { formTextOf, textOf } from '#kernel/declare/texts.ts';
import type { CommandInfo, CommandKind } from '#kernel/registry/registry.ts';
import type { ItemSource, Member } from '../../rows/sources.ts';
import { itemArgument, memberName, mutatingCommands, mutationName } from '../rules/names.ts';
import {
  addressLine,
  block,
  enumsOf,
  inputOf,
  type Line,
  PAGE,
  pagesOf,
  sentence,
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
      ...members.flatMap((member) => [memberLine(items, member), ...addressLine(member)]),
      ['When it was added.', 'createdAt: DateTime!'],
      ['When it was last changed.', 'updatedAt: DateTime!'],
      [`The ${spaced(kind.field)} that it belongs to.`, `${kind.field}: ${kind.type}!`],
    ]),
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

/** The fields of the aggregate that lead to its items. */
export const itemLines = ({ kind, list }: ItemSource): readonly Line[] => {
  const type = itemType(kind, list);
  return [
    [`The ${spaced(list.name)}, in their order.`, `${list.name}(limit: Int = 10): [${type}!]!`],
    [
      `The ${spaced(list.name)}, in their order, in pages.`,
      `${list.name}Connection(${PAGE}): ${type}Connection!`,
    ],
  ];
};

const inputsOf = (items: ItemSource): readonly string[] => {
  const { kind, list, members } = items;
  const { type } = typed(items);
  const has = (what: CommandKind): boolean =>
    mutatingCommands(kind).some((command) => command.list === list && command.kind === what);
  const linesOf = (as: 'new' | 'changed'): readonly Line[] =>
    members
      .filter(({ name }) => as === 'new' || (name !== list.key && !list.settled.includes(name)))
      .map((member) => [
        formTextOf(member.def) ?? sentence(spaced(member.name)),
        inputOf({ type }, member, as),
      ]);
  return [
    ...(has('addItem') ? [block(`A new ${spaced(list.one)}.`, `input ${type}Input`, linesOf('new'))] : []),
    ...(has('changeItem')
      ? [block('Absent fields stay; null removes a value.', `input ${type}Changes`, linesOf('changed'))]
      : []),
  ];
};

export const itemMutationLine = (items: ItemSource, command: CommandInfo): Line => {
  const { kind } = items;
  const { type } = typed(items);
  const idType = idTypeOf(items);
  const says = (verb: string): string => sentence(command.says ?? `${verb} ${oneOfIt(items)}`);
  const name = mutationName(kind, command);
  const one = oneArgument(items);
  switch (command.kind) {
    case 'addItem':
      return [says('Add'), `${name}(id: ID!, input: ${type}Input!, ifVersion: Int): ${type}!`];
    case 'changeItem':
      return [says('Change'), `${name}(${one}, changes: ${type}Changes!, ifVersion: Int): ${type}!`];
    case 'moveItem':
      return [
        `${says('Move')} It moves before the named one, or to the end.`,
        `${name}(${one}, before: ${idType}, ifVersion: Int): ${type}!`,
      ];
    default:
      return [says('Remove'), `${name}(${one}, ifVersion: Int): ${kind.type}!`];
  }
};

const idTypeOf = (items: ItemSource): string => {
  const [first] = items.members;
  return items.list.key === undefined || !first || first.target ? 'ID' : valueType(typed(items), first);
};

/** The arguments that identify one item. */
export const oneArgument = (items: ItemSource): string =>
  `id: ID!, ${itemArgument(items)}: ${idTypeOf(items)}!`;
