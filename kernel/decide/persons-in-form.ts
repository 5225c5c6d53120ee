import type { CommandInfo, Kind } from '../registry/registry.ts';

/** The references to the users to whom the personal fields in the form of a command belong. */
export const personsInForm = (
  { fields, owner }: Pick<Kind, 'fields' | 'owner'>,
  { list, form, itemForm }: Pick<CommandInfo, 'list' | 'form' | 'itemForm'>,
): readonly string[] => {
  const defs = list === undefined ? fields : list.fields;
  const all = (list === undefined ? form : itemForm).flatMap((name) => {
    const personal = defs[name]?.personal;
    return personal === undefined ? [] : [personal.of ?? owner ?? ''];
  });
  return [...new Set(all)].filter((name) => name !== '');
};
