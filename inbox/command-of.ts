import type { JsonObject } from '#kernel/base/json.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { type Command, typeOfCommand } from '#kernel/decide/decide.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import type { MessageFacts, MessageGiven, MessageInfo, PayloadIssue } from '#kernel/registry/sender-info.ts';
import { pointerTo } from '#shared/json-pointers.ts';

/** The mapping failed: the cause is for the operator’s log, and not for the sender. */
export class MappingFailed extends HttpProblem {
  constructor(detail: string, options: ErrorOptions = {}) {
    super('invalid_request', { detail, ...options });
    this.name = 'MappingFailed';
  }
}

type Mapped = { readonly message: MessageInfo; readonly payload: unknown; readonly facts: MessageFacts };

/** The command that follows from a message; undefined if none does. */
export const commandOf = async (domain: Domain, mapped: Mapped): Promise<Command | undefined> => {
  const { message, facts } = mapped;
  const payload = await checked(mapped);
  const given = givenBy(message, payload, facts);
  return given === undefined ? undefined : commandIn(domain, message, given);
};

const ERRORS_MAX = 50;

const checked = async ({ message, payload, facts }: Mapped): Promise<unknown> => {
  const validated = await Promise.resolve(message.payload['~standard'].validate(payload)).catch(
    (cause: unknown) => {
      throw new MappingFailed(
        `The domain cannot read messages of type ${facts.type}: its operator finds the reason in the log.`,
        { cause },
      );
    },
  );
  if (validated.issues === undefined) return validated.value;
  throw new HttpProblem('invalid_request', {
    detail: `The message ${facts.type} does not have the form that the domain reads.`,
    extensions: { errors: validated.issues.slice(0, ERRORS_MAX).map(errorOf) },
  });
};

const errorOf = ({ path = [], message }: PayloadIssue): JsonObject => ({
  pointer: pointerTo(path.map((part) => (typeof part === 'object' ? part.key : part))),
  detail: message,
});

const givenBy = (message: MessageInfo, payload: unknown, facts: MessageFacts): MessageGiven | undefined => {
  try {
    return message.given(payload as never, facts);
  } catch (cause) {
    throw new MappingFailed(
      `The domain cannot make a command of this message ${facts.type}: its operator finds the reason in the log.`,
      { cause },
    );
  }
};

const commandIn = (domain: Domain, message: MessageInfo, { id, form = {} }: MessageGiven): Command => {
  const kind = domain.kinds[message.kind] as Kind;
  const isCreation = kind.commands[message.command]?.kind === 'create';
  return {
    ...form,
    ...(!isCreation && { [`${kind.name}Id`]: id }),
    type: typeOfCommand(kind, message.command),
  };
};
