// Over 200 lines, because it is one derivation: the operations of commands, with their refusals.

import { JsonPatch } from '../base/json-patch.ts';
import { capital, kebab, oneOf, spaced } from '../base/names.ts';
import { deleted, exists, isFull, notFound, type RejectionCode } from '../base/rejection.ts';
import { Written, written } from '../base/rest/fields.ts';
import { isUser } from '../base/users.ts';
import { operationOf } from '../conditions/rights.ts';
import { eventsElsewhereOf } from '../decide/elsewhere.ts';
import { refusalOfInvariant, refusalsOf, refusalsOfNothing, refusalsOnItem } from '../decide/guards.ts';
import { isRelease } from '../decide/holds.ts';
import { oneOfList } from '../decide/items.ts';
import { limitRefusalsOf } from '../decide/limits.ts';
import { reasonOf } from '../decide/reasons.ts';
import { retainedCode } from '../decide/retention.ts';
import type { CommandInfo, Domain, EventInfo, Kind } from '../registry/registry.ts';
import { maySign } from '../registry/signed.ts';
import { type AggregateOperation, collectionPath, itemPath, type Named } from './operation.ts';
import { actionSchema, newSchema, patchSchema, replacementSchema } from './schemas.ts';

/** One operation for each command that clients can send, two for an edit. */
export const writesOf = (domain: Domain, kind: Kind): readonly Named[] => {
  const seen = new Set<string>();
  return Object.values(kind.commands).flatMap((command) => {
    if (command.internal) return [];
    const isFirst = !seen.has(command.kind);
    seen.add(command.kind);
    switch (command.kind) {
      case 'create':
        return [creationOf(domain, kind, command)];
      case 'edit':
        return isFirst ? editsOf(domain, kind, command) : [actionOf(domain, kind, command)];
      case 'end':
        return [(isFirst ? endOf : actionOf)(domain, kind, command)];
      case 'action':
        return [actionOf(domain, kind, command)];
      default:
        return [];
    }
  });
};

const json = 'application/json';

/** The common parts of every operation that sends a command. */
export const commanded = (domain: Domain, kind: Kind, command: CommandInfo) =>
  ({
    role: 'command',
    summary: command.says ?? `${capital(spaced(command.name))} ${oneOf(kind.name)}`,
    right: operationOf(kind, command.name),
    use: { kind, does: 'command', command },
    reason: reasonOf(kind, command),
    isSigned: maySign(kind, command),
    refusals: refusalsOfCommand(domain, kind, command),
  }) as const;

/** The refusals that depend on the present state, not on the form of the request. */
export const refusalsOfCommand = (
  domain: Domain,
  kind: Kind,
  command: CommandInfo,
): NonNullable<AggregateOperation['refusals']> => {
  const isOfUsers = command.kind === 'create' && kind.owner !== undefined;
  const isErasable =
    command.kind === 'edit' &&
    command.form.some((name) => kind.fields[name]?.personal && !kind.fields[name]?.optional);
  const guarded = [command, ...command.next.flatMap((next) => kind.commands[next] ?? [])];
  return [
    ...(isOfUsers
      ? (['user_not_found', 'user_deleted'] as const)
      : isErasable
        ? (['user_deleted'] as const)
        : []),
    ...(isUser(kind) ? refusalsOfUsers(command) : []),
    ...guarded.flatMap(({ when }) => refusalsOf(domain, kind, when).map(({ code }) => code)),
    ...guarded.flatMap(({ refuses }) => Object.values(refuses).map(({ code }) => code)),
    ...refusalsOnItem(kind, command).map(({ code }) => code),
    ...(command.list === undefined
      ? guarded.flatMap(({ events }) => events.flatMap((event) => refusalsInList(kind, event)))
      : []),
    ...refusalsOfNothing(kind, command).map(({ code }) => code),
    ...(guarded.some(decidesValues) ? (['invalid_request'] as const) : []),
    ...(reasonOf(kind, command) === undefined ? [] : (['reason_required'] as const)),
    ...Object.entries(kind.invariants).map((invariant) => refusalOfInvariant(kind, invariant).code),
    ...guarded.flatMap((each) => limitRefusalsOf(domain, kind, each)),
    ...guarded.flatMap((each) => refusalsElsewhere(domain, kind, each)),
    ...(command.confirm ? (['confirmation_required'] as const) : []),
    ...(maySign(kind, command) ? SIGNING : []),
    ...refusalsOfRequests(kind, command),
    ...(kind.retain && command.kind === 'end' ? [retainedCode(kind)] : []),
    ...(isRelease(kind, command) ? (['person_releases'] as const) : []),
  ];
};

const SIGNING = ['signature_required', 'signature_invalid', 'signer_required'] as const;

/** By the rules of accounts (`command/users`): addresses differ, and an administrator remains. */
const refusalsOfUsers = ({ kind, form }: CommandInfo): readonly RejectionCode[] => {
  const [isCreation, namesAddress] = [kind === 'create', form.includes('email')];
  const mayLeave = !isCreation && (kind === 'end' || namesAddress || form.includes('role'));
  return [
    ...(namesAddress ? (['email_taken'] as const) : []),
    ...(namesAddress && !isCreation ? (['email_changed_by_application'] as const) : []),
    ...(mayLeave ? (['last_administrator'] as const) : []),
  ];
};

/** An approval may be refused as the command that it is for. */
const refusalsOfRequests = ({ confirms }: Kind, { name }: CommandInfo): readonly RejectionCode[] => {
  if (confirms === undefined) return [];
  return name === 'approve'
    ? ['person_required', 'asker_not_allowed', 'request_outdated', 'user_deleted']
    : ['person_required'];
};

/** Decided values may exceed the limits of their fields. */
const decidesValues = ({ events, also }: CommandInfo): boolean =>
  Object.keys(also).length > 0 ||
  events.some(({ computes, item }) => computes.length + (item?.computes.length ?? 0) > 0);

/** The refusals of the other aggregates that a command changes. */
const refusalsElsewhere = (domain: Domain, kind: Kind, command: CommandInfo): readonly RejectionCode[] =>
  eventsElsewhereOf(domain, kind, command).flatMap(([target, event]) => {
    const { list } = event;
    const isSealed = Object.values(list?.fields ?? target.fields).some(({ personal }) => personal);
    return [
      ...[notFound(target.name), deleted(target.name)],
      ...Object.entries(target.invariants).map((invariant) => refusalOfInvariant(target, invariant).code),
      ...limitRefusalsOf(domain, target, { events: [event] }),
      ...refusalsInList(target, event),
      ...(isSealed ? (['user_deleted'] as const) : []),
    ];
  });

/** Of an event of an item that a decision names. */
const refusalsInList = (kind: Kind, { list, effect }: EventInfo): readonly RejectionCode[] => {
  if (list === undefined) return [];
  if (effect !== 'adds') return [notFound(oneOfList(kind, list))];
  return [isFull(kind.name, list.name), ...(list.key === undefined ? [] : [exists(oneOfList(kind, list))])];
};

const creationOf = (domain: Domain, kind: Kind, command: CommandInfo): Named => [
  `${kind.parent === undefined ? 'create' : command.name}${capital(kind.name)}`,
  {
    ...commanded(domain, kind, command),
    method: 'POST',
    path: collectionPath(domain, kind),
    body: { [json]: newSchema(kind, command) },
    answer: {
      status: 201,
      description: happened(kind, command),
      kind: 'written',
      schema: Written,
      item: readOf(kind),
    },
  },
];

/** A patch changes the fields it contains; a replacement contains all that can be changed. */
const editsOf = (domain: Domain, kind: Kind, command: CommandInfo): readonly Named[] => {
  const item = { ...commanded(domain, kind, command), path: itemPath(kind) };
  const [only, ...others] = command.form;
  const patch = patchSchema(kind, command);
  const what = others.length === 0 && only !== undefined ? `the ${spaced(only)}` : 'all changeable fields';
  const replace: AggregateOperation = {
    ...item,
    method: 'PUT',
    summary: `Replace ${what} of ${oneOf(kind.name)}`,
    body: { [json]: replacementSchema(domain, kind, command) },
    answer: written(`The ${spaced(kind.name)} was replaced.`, readOf(kind)),
  };
  const edit: AggregateOperation = {
    ...item,
    method: 'PATCH',
    body: { 'application/merge-patch+json': patch, 'application/json-patch+json': JsonPatch, [json]: patch },
    answer: written(`The ${spaced(kind.name)} was changed.`, readOf(kind)),
  };
  return [
    [`replace${capital(kind.name)}`, replace],
    // Clients know this operation by another name than that of the command.
    [`${isUser(kind) ? 'edit' : command.name}${capital(kind.name)}`, edit],
  ];
};

const endOf = (domain: Domain, kind: Kind, command: CommandInfo): Named => [
  `${command.name}${capital(kind.name)}`,
  {
    ...commanded(domain, kind, command),
    method: 'DELETE',
    path: itemPath(kind),
    answer: ended(kind),
  },
];

const actionOf = (domain: Domain, kind: Kind, command: CommandInfo): Named => [
  `${command.name}${capital(kind.name)}`,
  {
    ...commanded(domain, kind, command),
    method: 'POST',
    path: `${itemPath(kind)}/${kebab(command.name)}`,
    ...(command.form.length > 0 && { body: { [json]: actionSchema(kind, command) } }),
    answer: command.kind === 'end' ? ended(kind) : written(happened(kind, command), readOf(kind)),
  },
];

const readOf = (kind: Kind): string => `get${capital(kind.name)}`;

const ended = (kind: Kind) =>
  ({ status: 204, description: `The ${spaced(kind.name)} no longer exists.`, kind: 'nothing' }) as const;

/** Names of events are participles. */
const happened = (kind: Kind, command: CommandInfo): string => {
  const [first, ...others] = command.events;
  return `The ${spaced(kind.name)} was ${first === undefined || others.length > 0 ? 'changed' : spaced(first.name)}.${elsewhereWords(command)}`;
};

/** The references whose targets change with it, if there are any. */
const elsewhereWords = ({ also }: CommandInfo): string => {
  const references = Object.keys(also);
  return references.length === 0
    ? ''
    : ` The same command may change the target of ${references.join(' and of ')}.`;
};
