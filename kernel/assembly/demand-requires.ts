import { StartRefused } from '../base/start-refused.ts';
import type { Kind } from '../registry/registry.ts';

/** Refuses `requires` of fields that the form of the command does not have, which would be ignored. */
export const demandRequires = (kinds: readonly Kind[]): void => {
  for (const kind of kinds)
    for (const { name, requires, form, list } of Object.values(kind.commands)) {
      // Commands of items have no `requires`; another message says so.
      const unknown = list === undefined ? requires.find((field) => !form.includes(field)) : undefined;
      if (unknown !== undefined)
        throw new StartRefused(
          `${kind.name}: the command ${name} requires ${unknown}, which its form does not have: add the field to its event, or remove it from \`requires\`.`,
        );
    }
};
