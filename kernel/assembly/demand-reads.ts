import { targetOf } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import { type Expression, resolve } from '../conditions/expression.ts';
import { factsIn } from '../conditions/fold.ts';
import { operationOf, rightsOf } from '../conditions/rights.ts';
import type { CommandInfo, Domain, Kind } from '../registry/registry.ts';

/** Refuses references that commands cannot read or change, and reads without effect. */
export const demandReads = (domain: Domain): void => {
  for (const kind of Object.values(domain.kinds))
    for (const command of Object.values(kind.commands)) {
      for (const name of command.reads) demandRead(domain, kind, { command, name });
      for (const name of Object.keys(command.also)) demandAlso(domain, kind, { command, name });
    }
};

type Reading = { readonly command: CommandInfo; readonly name: string };

const demandRead = (domain: Domain, kind: Kind, { command, name }: Reading): void => {
  const place = `${kind.name}: the command ${command.name} reads ${name}`;
  const def = kind.fields[name];
  if (def?.kind !== 'ref') {
    const references = Object.keys(kind.fields).filter((each) => kind.fields[each]?.kind === 'ref');
    throw new StartRefused(
      `${place}, which is not one of its references: use one of ${references.join(', ') || 'none'}.`,
    );
  }
  const asked = askedOf(domain, kind, command);
  if (
    command.decide === undefined &&
    !asked.some((each) => factsIn(each).some(({ path }) => path[0] === name))
  )
    throw new StartRefused(
      `${place}, but no condition uses it: remove it from \`reads\`, or give the command a \`decide\`.`,
    );
};

/** A command changes aggregates of the domain that exist, by events whose values a decision can give. */
const demandAlso = (domain: Domain, kind: Kind, { command, name }: Reading): void => {
  const place = `${kind.name}: the command ${command.name} also changes the target of ${name}`;
  const def = kind.fields[name];
  const target = def && domain.kinds[targetOf(def)];
  if (target === undefined || target.name === 'user' || target.isManaged)
    throw new StartRefused(
      `${place}, which is not an aggregate of the domain: send it a command in \`react\`, or remove it from \`also\`.`,
    );
  for (const each of command.also[name] ?? []) {
    const event = target.events[each];
    if (event === undefined)
      throw new StartRefused(
        `${place} by ${each}, which is no event of ${target.name}: use one of ${Object.keys(target.events).join(', ')}.`,
      );
    if (event.effect === 'creates' || event.spec.claim === true)
      throw new StartRefused(
        `${place} by ${each}, which ${event.effect === 'creates' ? 'creates one' : 'releases a claim'}: use an event of an existing ${target.name}.`,
      );
    const byCaller = Object.entries(event.item?.sets ?? {}).find(
      ([field, value]) => value === 'caller' && !event.list?.fields[field]?.optional,
    );
    if (command.internal && byCaller !== undefined)
      throw new StartRefused(
        `${place} by ${each}, which sets ${byCaller[0]} to \`caller\`, but an internal command has no caller: use another event, or make the field optional().`,
      );
    const defs = event.list?.fields ?? target.fields;
    const given = event.item ? [...event.item.content, ...event.item.computes] : event.values;
    const upload = given.find((field) => defs[field]?.kind === 'upload');
    if (upload !== undefined)
      throw new StartRefused(
        `${place} by ${each}, which sets the file ${upload}, but files belong to one ${target.name}: use an event without it.`,
      );
  }
};

/**
 * The conditions of a command beside its `decide`, including those of commands that its form can run next,
 * and the invariants.
 */
const askedOf = (domain: Domain, kind: Kind, { name, when, next }: CommandInfo): readonly Expression[] => {
  const all = [{ name, when }, ...next.flatMap((each) => kind.commands[each] ?? [])];
  const conditions = [
    ...all.flatMap((each) => (each.when === undefined ? [] : [each.when])),
    ...Object.values(kind.invariants),
  ];
  return [
    ...conditions.map((each) => resolve(domain, kind, each)),
    ...all.flatMap((each) => rightsOf(domain).get(operationOf(kind, each.name))?.alternatives ?? []),
  ];
};

/** The first command that changes several aggregates, with its aggregate and a reference. */
export const severalIn = ({ kinds }: Domain): string | undefined =>
  Object.values(kinds).flatMap((kind) =>
    Object.values(kind.commands).flatMap(({ name, also }) => {
      const [reference] = Object.keys(also);
      return reference === undefined
        ? []
        : [`${kind.name}: the command ${name} also changes the target of ${reference}`];
    }),
  )[0];

/**
 * The first command that reads other aggregates, with its aggregate; an event log that cannot lock them
 * refuses it.
 */
export const readingIn = ({ kinds }: Domain): string | undefined =>
  Object.values(kinds).flatMap((kind) =>
    Object.values(kind.commands).flatMap(({ name, reads }) =>
      reads.length > 0 ? [`${kind.name}: the command ${name} reads ${reads[0]}`] : [],
    ),
  )[0];
