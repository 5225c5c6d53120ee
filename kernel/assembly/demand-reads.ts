import { targetOf } from '../base/names.ts';
import { isUser } from '../base/users.ts';
import { type Expression, resolve } from '../conditions/expression.ts';
import { factsIn } from '../conditions/fold.ts';
import { operationOf, rightsOf } from '../conditions/rights.ts';
import { isOfHold } from '../decide/holds.ts';
import type { CommandInfo, Domain, Kind } from '../registry/registry.ts';
import { eachCommand, eachKind, type Sentences } from './refusals.ts';

/** Refuses references that commands cannot read or change, and reads without effect. */
export const demandReads = eachKind(eachCommand(wrongReads));

function* wrongReads(command: CommandInfo, kind: Kind, domain: Domain): Sentences {
  for (const name of command.reads) {
    if (kind.fields[name]?.kind !== 'ref') {
      const references = Object.keys(kind.fields).filter((each) => kind.fields[each]?.kind === 'ref');
      yield `reads ${name}, which is not one of its references: use one of ${references.join(', ') || 'none'}.`;
    }
    const asked = command.decide === undefined ? askedOf(domain, kind, command).flatMap(factsIn) : [];
    if (command.decide === undefined && !asked.some(({ path }) => path[0] === name))
      yield `reads ${name}, but no condition uses it: remove it from \`reads\`, or give the command a \`decide\`.`;
  }
  for (const name of Object.keys(command.also)) yield* wrongAlso(command, name, { kind, domain });
}

type In = { readonly kind: Kind; readonly domain: Domain };

/** A command changes aggregates of the domain that exist, by events whose values a decision can give. */
function* wrongAlso(command: CommandInfo, name: string, { kind, domain }: In): Sentences {
  const { also, internal } = command;
  const def = kind.fields[name];
  const target = def && domain.kinds[targetOf(def)];
  // Holds are counted at the users whose data is held.
  if (target === undefined || (isUser(target) && !isOfHold(kind, command)) || target.isManaged)
    return yield `also changes the target of ${name}, which is not an aggregate of the domain: send it a command by a reaction, or remove it from \`also\`.`;
  for (const each of also[name] ?? []) {
    const place = `also changes the target of ${name} by ${each}, which`;
    const event = target.events[each];
    if (event === undefined)
      return yield `${place} is no event of ${target.name}: use one of ${Object.keys(target.events).join(', ')}.`;
    if (event.effect === 'creates' || event.spec.claim === true)
      yield `${place} ${event.effect === 'creates' ? 'creates one' : 'releases a claim'}: use an event of an existing ${target.name}.`;
    const byCaller = Object.entries(event.item?.sets ?? {}).find(
      ([field, value]) => value === 'caller' && !event.list?.fields[field]?.optional,
    );
    if (internal && byCaller !== undefined)
      yield `${place} sets ${byCaller[0]} to \`caller\`, but an internal command has no caller: use another event, or make the field optional().`;
    const defs = event.list?.fields ?? target.fields;
    const given = event.item ? [...event.item.content, ...event.item.computes] : event.values;
    const upload = given.find((field) => defs[field]?.kind === 'upload');
    if (upload !== undefined)
      yield `${place} sets the file ${upload}, but files belong to one ${target.name}: use an event without it.`;
  }
}

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

/** The first command of which an approval is appended together with its events. */
export const confirmedIn = ({ kinds }: Domain): string | undefined =>
  Object.values(kinds).flatMap((kind) =>
    Object.values(kind.commands).flatMap(({ name, confirm }) =>
      confirm ? [`${kind.name}: the command ${name} has \`confirm\``] : [],
    ),
  )[0];
