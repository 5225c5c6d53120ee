import { targetOf, wire } from '../base/names.ts';
import type { CommandInfo, Domain, Kind, Row } from '../registry/registry.ts';
import type { Look } from './guards.ts';

/** The references that a command reads, including those of the commands that its form can run next. */
export const readsOf = (kind: Kind, { reads, next }: CommandInfo): readonly string[] => [
  ...new Set([...reads, ...next.flatMap((name) => kind.commands[name]?.reads ?? [])]),
];

/** The references of an aggregate after its form is applied, by name of the field. */
export const referencesAfter = (kind: Kind, fields: Row, form: Row): Row => {
  const given = Object.entries(kind.fields).flatMap(([name, def]) => {
    const id = def.kind === 'ref' ? form[wire(name, def)] : undefined;
    return id === undefined ? [] : [[name, id] as const];
  });
  return { ...fields, ...Object.fromEntries(given) };
};

type Reads = (fields: Row, form: Row, look: Look) => Row;

/**
 * The states that a decision gets, by name of the reference: null if the target is absent or has ended.
 * Reading an undeclared reference throws, because nothing would lock the target.
 */
export const readerOf = (domain: Domain, kind: Kind, command: CommandInfo): Reads => {
  const references = Object.entries(kind.fields).filter(([, { kind: of }]) => of === 'ref');
  return (fields, form, look) => {
    const after = referencesAfter(kind, fields, command.list === undefined ? form : {});
    const given = references.map(([name, def]) => {
      const get = (): Row | null => {
        if (!command.reads.includes(name))
          throw new Error(
            `${kind.name}: the \`decide\` of ${command.name} uses the target of ${name}: add it to \`reads\``,
          );
        const target = domain.kinds[targetOf(def)];
        const state = target && look(target.name, after[name]);
        return state?.status === 'present' ? state.fields : null;
      };
      return [name, { get, enumerable: true }] as const;
    });
    return Object.defineProperties({}, Object.fromEntries(given)) as Row;
  };
};
