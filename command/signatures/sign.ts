import type { JsonObject } from '#kernel/base/json.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { RecordedSignature } from '#kernel/base/signature.ts';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { patchedCommandsOf, patchType } from '#kernel/decide/forms.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import { agentRequestsOf } from '#kernel/registry/confirms.ts';
import { type Caller, isAgent, isPerson } from '#shared/policy.ts';
import type { Signatures } from '#shared/signatures/signatures.ts';
import type { Sent } from '../handling/execution-context.ts';
import type { AnyHandler, HandlerDependencies, Outcome } from '../handling/handler.ts';
import { streamOf } from '../handling/target.ts';
import { createLookingExecutor, type Looked } from './looking.ts';
import { askedSignature, type Signing, statedFor } from './statement.ts';

type Handlers = Readonly<Record<string, AnyHandler>>;

type SigningDependencies = HandlerDependencies & {
  readonly signatures: Signatures;
  /** The address of the authorization server, where persons sign. */
  readonly issuerUrl: string;
  /** All handlers over another executor. */
  handlersOver(executor: HandlerDependencies['executor']): Promise<Handlers>;
};

/** The handlers of a domain in which persons sign commands. */
export const signing = async (dependencies: SigningDependencies, handlers: Handlers): Promise<Handlers> => {
  const looking = createLookingExecutor(dependencies.executor);
  const parts: Parts = {
    ...dependencies,
    looking: await dependencies.handlersOver(looking.executor),
    seen: looking.seen,
  };
  const signed = Object.values(dependencies.domain.kinds).flatMap((kind) =>
    Object.values(kind.commands).flatMap((command) => {
      const meaning = command.signed;
      if (meaning === undefined) return [];
      const patches = patchedCommandsOf(kind).includes(command) ? [patchType(kind, command.list)] : [];
      return [typeOfCommand(kind, command.name), ...patches].flatMap((type) => {
        const handler = handlers[type];
        const signs: FindSigning = async (given) => ({ kind, command, meaning, given });
        return handler === undefined
          ? []
          : [[type, signedBy(parts, handler, { signs, waits: command.confirm })] as const];
      });
    }),
  );
  return { ...handlers, ...Object.fromEntries(signed), ...signedApproval(parts, handlers) };
};

type Parts = SigningDependencies & {
  readonly looking: Handlers;
  seen(execution: Sent['execution']): Looked | undefined;
};

/** Finds what must be signed for a command; undefined if nothing, and `absent` if its item does not exist. */
type FindSigning = (given: JsonObject) => Promise<Signing | 'absent' | undefined>;

type Rule = {
  readonly signs: FindSigning;
  /** Whether that of an agent waits for a person, who signs the approval. */
  readonly waits?: boolean | undefined;
  /** Of requests of agents, about which only persons decide in any case. */
  readonly isApproval?: boolean;
};

/** A person approves the request of an agent for a signed command by their signature. */
const signedApproval = (parts: Parts, handlers: Handlers): Handlers => {
  const { domain, states } = parts;
  const requests = agentRequestsOf(domain);
  const command = requests?.commands.approve;
  if (requests === undefined || command === undefined) return {};
  const type = typeOfCommand(requests, command.name);
  const handler = handlers[type];
  if (handler === undefined) return {};
  const signs: FindSigning = async (given) => {
    const stream = streamOf(requests, given[`${requests.name}Id`] as number);
    const { state } = await states.load<AggregateState, never>(deciderOf(domain, requests), stream);
    if (state.status === 'absent') return 'absent';
    if (state.status !== 'present') return undefined;
    const { command: asked, target, targetVersion, input } = state.fields as AskedFields;
    const meaning = requests.confirms.find((each) => each.type === asked)?.signed;
    if (meaning === undefined) return undefined;
    const version = (given.targetVersion as number | null | undefined) ?? targetVersion;
    return {
      ...{ kind: requests, command, meaning, given },
      approves: { command: asked, of: target, version, form: input },
    };
  };
  return { [type]: signedBy(parts, handler, { signs, isApproval: true }) };
};

type AskedFields = {
  readonly command: string;
  readonly target: string;
  readonly targetVersion: number | null;
  readonly input: string | null;
};

const signedBy = (
  parts: Parts,
  handler: AnyHandler,
  { signs, waits = false, isApproval = false }: Rule,
): AnyHandler => ({
  ...handler,
  async handle(given, sent) {
    const { caller } = sent;
    // The system itself has every right: the demo, and imports of history.
    if (caller.kind === 'system' || (waits && isAgent(caller))) return handler.handle(given, sent);
    if (!isPerson(caller)) {
      if (isApproval) return handler.handle(given, sent);
      throw new Rejection('signer_required');
    }
    const signing = await signs(given as unknown as JsonObject);
    if (signing === undefined) return handler.handle(given, sent);
    const looked = await lookAt(parts, given, sent);
    // It has come into being in between, so that nobody knows yet whether it must be signed.
    if (signing === 'absent') throw new Rejection('conflict');
    if (looked?.isNothing) return looked.outcome;
    return handler.handle(
      given,
      await signedSent(parts, { signing, sent, caller: caller as Person, looked }),
    );
  },
});

type Person = Extract<Caller, { kind: 'user' }>;

type Found = Looked & { readonly outcome: Outcome };

/**
 * Decides first: what would be refused now bothers nobody, and what changes nothing needs no signature; it is
 * not executed either, because by then it could change something. A repeated request may have changed the item
 * itself, so that only its signature counts.
 */
const lookAt = async (
  { looking, seen }: Parts,
  given: Parameters<AnyHandler['handle']>[0],
  sent: Sent,
): Promise<Found | undefined> => {
  if (sent.execution.mayBeRepeatAfter !== undefined && sent.execution.signature !== undefined)
    return undefined;
  const execution = { ...sent.execution };
  const outcome = await looking[given.type]?.handle(given, { ...sent, execution });
  const looked = seen(execution);
  if (outcome === undefined || looked === undefined) throw new Error(`${given.type} was not looked at`);
  return { ...looked, outcome };
};

type Sending = {
  readonly signing: Signing;
  readonly sent: Sent;
  readonly caller: Person;
  readonly looked: Looked | undefined;
};

/** The same command with its signature, which is used up, on the version that was signed. */
const signedSent = async (parts: Parts, { signing, sent, caller, looked }: Sending): Promise<Sent> => {
  const { signatures, issuerUrl } = parts;
  const { execution } = sent;
  const { userId } = caller;
  const required = (request: string) =>
    new Rejection('signature_required', {
      ...{ request, meaning: signing.meaning },
      href: `${issuerUrl}/account/sign?link=${request}`,
    });
  if (execution.signature === undefined) {
    if (looked === undefined) throw new Rejection('signature_invalid');
    const asked = askedSignature(signing, { userId, at: execution.metadata.at, looked });
    throw required(await signatures.ask(asked));
  }
  const found = await signatures.find(execution.signature);
  const stated = found && statedFor(signing, { userId, asked: found.asked });
  if (found === undefined || stated === undefined) throw new Rejection('signature_invalid');
  if (found.given === undefined) throw required(execution.signature);
  if (stated.version !== null && looked !== undefined && stated.version !== looked.version)
    throw new Rejection('version_mismatch', { version: looked.version });
  if (!(await signatures.use(execution.signature, execution.ids.event(0))))
    throw new Rejection('signature_invalid');
  const signature: RecordedSignature = { statement: found.asked.statement, ...found.given };
  return {
    ...sent,
    execution: {
      ...execution,
      ...(stated.version !== null && { ifVersion: stated.version }),
      metadata: { ...execution.metadata, signature },
    },
  };
};
