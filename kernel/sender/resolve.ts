import { nearest } from '../base/nearest.ts';
import { StartRefused } from '../base/start-refused.ts';
import { isUser } from '../base/users.ts';
import { operationOf, rightsOf } from '../conditions/rights.ts';
import type { Domain, EventInfo, Kind } from '../registry/registry.ts';
import { isRoleOfKernel } from '../registry/roles.ts';
import type { MessageInfo, SenderInfo } from '../registry/sender-info.ts';
import type { SenderDeclaration } from './declaration.ts';
import { operationIdOf, operationOfSender } from './operation.ts';
import { REFUSED_MESSAGES } from './refused-messages.ts';
import { wrongSignature } from './wrong-signature.ts';

type Sentences = Iterable<string>;

/** Its name is a segment of its path, and a part of the actor in the events that it causes. */
const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const NAME_CHARACTERS_MAX = 40;
const TYPES_MAX = 200;
const TYPE_CHARACTERS_MAX = 200;

/** Resolves the names of a declaration; throws `StartRefused` for the first that is wrong. */
export const resolveSender = (
  domain: Domain,
  name: string,
  declaration: SenderDeclaration<string>,
): SenderInfo => {
  for (const sentence of wrongSender(domain, name, declaration))
    throw new StartRefused(`the sender ${name}${sentence}`);
  const { says, signature, as: role, on, refusals = 'refuse' } = declaration;
  const sender = { name, says, signature, role, acknowledgesRefusals: refusals === 'acknowledge', on };
  return {
    ...sender,
    operationId: operationIdOf(name),
    operation: operationOfSender(sender),
    listing: REFUSED_MESSAGES,
  };
};

function* wrongSender(domain: Domain, name: string, declaration: SenderDeclaration<string>): Sentences {
  const { signature, as: role, on, refusals } = declaration;
  if (!NAME.test(name) || name.length > NAME_CHARACTERS_MAX)
    yield `: its name must be at most ${NAME_CHARACTERS_MAX} of a–z and digits, with single hyphens between words: give it another name.`;
  yield* wrongSignature(signature);
  const roles = domain.roles.filter((each) => each !== 'anonymous' && !isRoleOfKernel(domain, each));
  if (!roles.includes(role))
    yield ` acts \`as\` ${String(role)}, which is not a role of its own rights: use one of ${roles.join(', ')}.`;
  if (refusals !== undefined && !['refuse', 'acknowledge'].includes(refusals))
    yield ` has \`refusals\`: '${String(refusals)}': write 'refuse' or 'acknowledge'.`;
  const messages = Object.entries(on ?? {});
  if (messages.length === 0 || messages.length > TYPES_MAX)
    yield ` maps ${messages.length} types of messages: name 1 to ${TYPES_MAX} of them in \`on\`.`;
  for (const [type, message] of messages)
    for (const sentence of wrongMessage(domain, role, message)) yield `: the message ${type} ${sentence}`;
  for (const [type] of messages)
    if (type === '' || type.length > TYPE_CHARACTERS_MAX)
      yield `: a type of message has 1 to ${TYPE_CHARACTERS_MAX} characters: give it its name.`;
}

function* wrongMessage(domain: Domain, role: string, message: MessageInfo): Sentences {
  const validate: unknown = message?.payload?.['~standard']?.validate;
  if (typeof message?.kind !== 'string' || typeof message.given !== 'function')
    return yield 'is not made by `message(aggregate, command, …)`: write it so.';
  if (typeof validate !== 'function')
    yield 'has a `payload` that is no schema: use one of zod, or of another library with Standard Schema.';
  const kind = domain.kinds[message.kind];
  if (kind === undefined || isUser(kind) || kind.isManaged)
    return yield `leads to ${message.kind}, which is not an aggregate of the domain: use one of ${namesOf(domain)}.`;
  const command = kind.commands[message.command];
  if (command === undefined || command.internal) return yield unknownCommand(kind, message.command);
  if (command.signed !== undefined)
    yield `leads to ${command.name} of ${kind.name}, which a person signs, but a sender is no person: use a command without \`signed\`.`;
  const byCaller = command.events.flatMap((event) => setsCaller(event, kind))[0];
  if (byCaller !== undefined)
    yield `leads to ${command.name} of ${kind.name}, whose event sets ${byCaller} to \`caller\`, but a sender is no user: make the field optional(), or use another command.`;
  const reach = rightsOf(domain).get(operationOf(kind, command.name))?.byRole.get(role);
  if (reach === undefined || reach.size === 0)
    yield `leads to ${command.name} of ${kind.name}, to which ${role} has no right: give it one, as \`${command.name}: { ${role}: true }\` in the rights of ${kind.name}.`;
}

const namesOf = (domain: Domain): string =>
  Object.values(domain.kinds)
    .flatMap((kind) => (isUser(kind) || kind.isManaged ? [] : [kind.name]))
    .join(', ');

const unknownCommand = ({ name, commands }: Kind, given: string): string => {
  const names = Object.values(commands).flatMap((each) => (each.internal ? [] : [each.name]));
  const meant = nearest(given, names);
  return commands[given] === undefined
    ? `leads to ${given}, which is not a command of ${name}: ${meant === undefined ? `use one of ${names.join(', ')}` : `did you mean ${meant}?`}${meant === undefined ? '.' : ''}`
    : `leads to ${given} of ${name}, which only timers and reactions send: remove \`internal\`, or use one of ${names.join(', ')}.`;
};

/** The fields without a value if no user sends the command. */
const setsCaller = ({ sets, item, list }: EventInfo, kind: Kind): readonly string[] => [
  ...Object.entries(sets).flatMap(([field, value]) =>
    value === 'caller' && !kind.fields[field]?.optional ? [field] : [],
  ),
  ...Object.entries(item?.sets ?? {}).flatMap(([field, value]) =>
    value === 'caller' && !list?.fields[field]?.optional ? [`${list?.name}.${field}`] : [],
  ),
];
