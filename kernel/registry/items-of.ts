import { byName, capital } from '../base/names.ts';
import type { CommandInfo, ItemEffect, ListInfo, Row } from './registry.ts';

/**
 * The form of an event of an item: the fields that it names. By default these are the fields that no event of
 * the list sets; an event that sets some without naming others has no form, unless it adds the item.
 */
export const itemEffectOf = (list: ListInfo, spec: Row, siblings: readonly Row[]): ItemEffect => {
  const sets = (spec.sets ?? {}) as Row;
  const isOfList = (each: Row): boolean => [each.adds, each.updates].includes(list.name);
  const set = new Set(siblings.filter(isOfList).flatMap(givenBySystem));
  const isAddition = spec.adds !== undefined;
  const free = Object.entries(list.fields).flatMap(([name, { kind }]) =>
    set.has(name) || kind === 'states' || (!isAddition && list.settled.includes(name)) ? [] : [name],
  );
  const hasForm = isAddition || (spec.updates !== undefined && givenBySystem(spec).length === 0);
  const computes = (spec.computes ?? []) as readonly string[];
  return { content: (spec.fields as readonly string[] | undefined) ?? (hasForm ? free : []), sets, computes };
};

/** The fields that no form needs, because the declaration or a decision gives their values. */
export const givenBySystem = ({ sets = {}, computes = [] }: Row): readonly string[] => [
  ...Object.keys(sets as Row),
  ...(computes as readonly string[]),
];

/** The first public command of each kind has the path of the list or of the item. */
export const withVerbs = (commands: Record<string, CommandInfo>): Record<string, CommandInfo> => {
  const all = Object.values(commands);
  const isFirst = (command: CommandInfo): boolean =>
    all.find(({ list, kind, internal }) => list === command.list && kind === command.kind && !internal) ===
    command;
  return byName(
    Object.entries(commands).map(([name, command]) => {
      const { list, kind, internal } = command;
      if (list === undefined || (internal && kind !== 'actOnItem')) return [name, command];
      const isMain = kind !== 'actOnItem' && isFirst(command);
      if (isMain) return [name, { ...command, verb: kind === 'moveItem' ? 'move' : undefined }];
      return [
        name,
        {
          ...command,
          kind: kind === 'changeItem' ? 'actOnItem' : kind,
          verb: kind === 'addItem' ? name : verbIn(name, list),
        },
      ];
    }),
  );
};

/** `finishTask` on a task is `finish`. */
const verbIn = (command: string, { one }: ListInfo): string => {
  const suffix = capital(one);
  return command.endsWith(suffix) && command !== suffix ? command.slice(0, -suffix.length) : command;
};
