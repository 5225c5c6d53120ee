import { itemType, oneOf } from '#kernel/base/names.ts';
import type { Accepted } from '#kernel/decide/accepted-files.ts';
import { uploadFieldsOf } from '#kernel/decide/upload-fields.ts';
import { formTextOf } from '#kernel/declare/texts.ts';
import { mutatingCommands, mutationName, uploadMutations } from '#kernel/registry/mutations.ts';
import type { CommandInfo } from '#kernel/registry/registry.ts';
import { nounOf } from '#shared/blobs/incoming-file.ts';
import { bytesText } from '#shared/format.ts';
import type { Member, Source } from '../../rows/source.ts';
import { demandItems } from '../../rows/sources.ts';
import { idArgument } from '../rules/names.ts';
import { itemMutationLine, oneArgument } from './sdl-items.ts';
import { argumentsBeside, block, inputOf, type Line, sentence } from './sdl-lines.ts';

const commandsOf = ({ kind }: Source, wanted: CommandInfo['kind']): readonly CommandInfo[] =>
  Object.values(kind.commands).filter((command) => command.kind === wanted && !command.internal);

/** The inputs of an aggregate’s commands. */
export const inputsOf = (source: Source): readonly string[] => {
  const { kind } = source;
  return [
    ...commandsOf(source, 'create').map((command) =>
      block(`A new ${kind.field}.`, `input ${kind.type}Input`, linesOfNew(source, command)),
    ),
    ...commandsOf(source, 'edit')
      .filter(({ form }) => form.length > 1)
      .map(({ form }) =>
        block(
          'Absent fields stay; null removes a value.',
          `input ${kind.type}Changes`,
          form.map((name) => inputLine(source, name, 'changed')),
        ),
      ),
  ];
};

/** The form of a creation; GraphQL knows no empty input. */
const linesOfNew = (source: Source, command: CommandInfo): readonly Line[] => {
  const { kind, owner } = source;
  return [
    ...command.form.map((name) => inputLine(source, name, isRequired(command, name) ? 'required' : 'new')),
    ...command.next.map(
      (next): Line => [sentence(`${kind.commands[next]?.says ?? next} at once`), `${next}: Boolean! = false`],
    ),
    ...(owner
      ? [[`For administrators: the ${owner.name}, if it is another user.`, `${owner.name}: ID`] as const]
      : []),
  ];
};

const memberOf = ({ kind, members }: Source, name: string): Member => {
  const member = members.find((each) => each.name === name);
  if (!member) throw new RangeError(`${kind.name} has no field ${name}`);
  return member;
};

const isRequired = ({ requires }: CommandInfo, name: string): boolean => requires.includes(name);

const inputLine = (source: Source, name: string, as: 'new' | 'changed' | 'required'): Line => {
  const member = memberOf(source, name);
  return [formTextOf(member.def) ?? sentence(name), inputOf(source.kind, member, as)];
};

const saysOf = ({ kind }: Source, { name, says }: CommandInfo): string =>
  says ?? `${name} ${oneOf(kind.field)}`;

export const mutationsOf = (source: Source): readonly Line[] => [
  ...mutatingCommands(source.kind).map((command) => {
    const items = source.items.find(({ list }) => list === command.list);
    return items === undefined ? mutationLine(source, command) : itemMutationLine(items, command);
  }),
  ...uploadLines(source),
];

const mutationLine = (source: Source, command: CommandInfo): Line => {
  const { kind, parent } = source;
  const beside = argumentsBeside(kind, command);
  const name = mutationName(kind, command);
  const says = sentence(saysOf(source, command));
  const flat = () =>
    command.form
      .map((field) => {
        const as = isRequired(command, field) ? 'required' : 'whole';
        return `, ${inputOf(source.kind, memberOf(source, field), as)}`;
      })
      .join('');
  switch (command.kind) {
    case 'create': {
      const args = [
        ...(parent ? [`${idArgument(parent)}: ID!`] : []),
        ...(linesOfNew(source, command).length > 0 ? [`input: ${kind.type}Input!`] : []),
        ...(beside === '' ? [] : [beside.slice(', '.length)]),
      ];
      return [says, `${name}${args.length > 0 ? `(${args.join(', ')})` : ''}: ${kind.type}!`];
    }
    case 'end':
      return [`${says.slice(0, -1)}; returns the id.`, `${name}(id: ID!, ifVersion: Int${beside}): ID!`];
    case 'edit': {
      const changes = command.form.length > 1 ? `, changes: ${kind.type}Changes!` : flat();
      return [says, `${name}(id: ID!${changes}, ifVersion: Int${beside}): ${kind.type}!`];
    }
    default:
      return [says, `${name}(id: ID!${flat()}, ifVersion: Int${beside}): ${kind.type}!`];
  }
};

const PICTURE =
  'Uploads a picture (PNG, JPEG, WebP, GIF, AVIF) of at most 10 MiB. If the file has no type, its bytes decide. You can repeat it without an idempotency key.';

const uploadText = ({ isPicture, types, bytesMax }: Accepted): string =>
  isPicture
    ? PICTURE
    : `Uploads a file (${types.join(', ')}) of at most ${bytesText(bytesMax)}. If the file has no type, its bytes decide. You can repeat it without an idempotency key.`;

const uploadLines = (source: Source): readonly Line[] =>
  uploadFieldsOf(source.kind).flatMap((field): readonly Line[] => {
    const { kind } = source;
    const { set, remove } = uploadMutations(kind, field);
    const beside = argumentsBeside(kind, field.command);
    const [of, type] =
      field.list === undefined
        ? ['id: ID!', kind.type]
        : [oneArgument(demandItems(source, field.list)), itemType(kind, field.list)];
    return [
      [uploadText(field.accepts), `${set}(${of}, file: Upload!, ifVersion: Int${beside}): ${type}!`],
      ...(remove === undefined
        ? []
        : [
            [
              `Removes the ${nounOf(field.accepts)}.`,
              `${remove}(${of}, ifVersion: Int${beside}): ${type}!`,
            ] as const,
          ]),
    ];
  });
